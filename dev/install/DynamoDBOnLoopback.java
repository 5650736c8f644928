import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/** DynamoDB Local on 127.0.0.1 alone; its own main listens on every interface. Takes the same arguments. */
public final class DynamoDBOnLoopback {
  public static void main(String[] arguments) throws Exception {
    DynamoDBProxyServer dynamodb = ServerRunner.createServerFromCommandLineArgs(arguments);
    var jetty = DynamoDBProxyServer.class.getDeclaredField("server");
    jetty.setAccessible(true);
    for (var connector : ((Server) jetty.get(dynamodb)).getConnectors()) {
      ((ServerConnector) connector).setHost("127.0.0.1");
    }
    dynamodb.start();
    dynamodb.join();
  }
}
