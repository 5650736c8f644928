"""Signed requests: those that AWS publishes, those that its SDK signs, and what becomes of altered ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headwater.auth import CredentialWithSecret, Identity, TooManyAttempts
from headwater.auth.limits import ATTEMPTS_OF_KEY, BELIEVED
from headwater.auth.signatures import (
    AuthorizationHeaderMalformed,
    AuthorizationQueryParametersError,
    HeadersNotSigned,
    InvalidAccessKeyId,
    InvalidArgument,
    InvalidRequest,
    InvalidToken,
    NotSigned,
    RequestExpired,
    RequestTimeTooSkewed,
    SignatureDoesNotMatch,
    SignatureError,
    SignedRequest,
    XAmzContentSHA256Mismatch,
    headers_of,
    is_signed,
)
from headwater.drive import drive
from headwater.testing.counting import Trips
from tests.auth.signing import KINDS, but, but_header, signed
from tests.auth.world import HERE, World

PUBLISHED_KEY = "AKIAIOSFODNN7EXAMPLE"
PUBLISHED_SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"  # noqa: S105  (AWS prints it on its pages)
PUBLISHED_TIME = 1_369_353_600.0
NOTHING = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


class Home(World):
    """A world with one user, whose credential is known."""

    def __init__(self, access_key_id: str | None = None, secret: str | None = None) -> None:
        super().__init__()
        ann = drive(self.auth.users.create("ann"))
        self.credential: CredentialWithSecret = drive(
            self.auth.credentials.create(ann, access_key_id=access_key_id, secret_access_key=secret)
        )
        self.time.seconds = time.time()

    def verify(self, request: SignedRequest, client: str = HERE) -> Identity:
        return drive(self.auth.signatures.verify(request, client)).identity

    def refused(self, request: SignedRequest, error: type[SignatureError]) -> str:
        with pytest.raises(error) as raised:
            self.verify(request)
        assert type(raised.value) is error
        assert self.credential.secret_access_key not in str(raised.value)
        return str(raised.value)


@pytest.fixture
def home() -> Home:
    return Home()


@pytest.fixture
def published() -> Home:
    world = Home(PUBLISHED_KEY, PUBLISHED_SECRET)
    world.time.seconds = PUBLISHED_TIME
    return world


def as_published(
    method: str, path: str, query: str, headers: str, signature: str, *, payload: str = NOTHING
) -> SignedRequest:
    """One of the examples in "Signature Calculations for the Authorization Header" of the S3 API reference."""
    found = dict(line.split(":", 1) for line in headers.split("\n") if line)
    found |= {"host": "examplebucket.s3.amazonaws.com", "x-amz-content-sha256": payload}
    names = sorted([*found, *([] if "date" in found else ["x-amz-date"])])
    if "date" not in found:
        found["x-amz-date"] = "20130524T000000Z"
    credential = f"{PUBLISHED_KEY}/20130524/us-east-1/s3/aws4_request"
    found["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={credential},SignedHeaders={';'.join(names)},Signature={signature}"
    )
    return SignedRequest(method, path, query, found)


class TestPublishedExamples:
    @pytest.mark.parametrize(
        "request_",
        [
            as_published(
                "GET", "/test.txt", "", "range:bytes=0-9",
                "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
            ),
            as_published(
                "PUT", "/test$file.text", "",
                "date:Fri, 24 May 2013 00:00:00 GMT\nx-amz-date:20130524T000000Z\n"
                "x-amz-storage-class:REDUCED_REDUNDANCY",
                "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
                payload="44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
            ),
            as_published(
                "GET", "/", "lifecycle", "", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
            ),
            as_published(
                "GET", "/", "max-keys=2&prefix=J", "",
                "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
            ),
        ],
        ids=["get", "put", "lifecycle", "list"],
    )  # fmt: skip
    def test_in_headers(self, published: Home, request_: SignedRequest) -> None:
        assert published.verify(request_).user == "ann"

    def test_presigned(self, published: Home) -> None:
        query = (
            "X-Amz-Algorithm=AWS4-HMAC-SHA256"
            "&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request"
            "&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host"
            "&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
        )
        request = SignedRequest("GET", "/test.txt", query, {"host": "examplebucket.s3.amazonaws.com"})
        assert published.verify(request).user == "ann"
        published.time.seconds += 86_401
        published.refused(request, RequestExpired)

    def test_of_version_2(self, published: Home) -> None:
        published.time.seconds = 1_175_024_202.0
        request = SignedRequest(
            "GET", "/photos/puppy.jpg", "",
            {"host": "awsexamplebucket1.us-west-1.s3.amazonaws.com", "date": "Tue, 27 Mar 2007 19:36:42 +0000",
             "authorization": f"AWS {PUBLISHED_KEY}:qgk2+6Sv9/oM7G3qLEjTH1a1l1g="},
            bucket="awsexamplebucket1",
        )  # fmt: skip
        assert published.verify(request).user == "ann"
        published.refused(but(request, bucket="another"), SignatureDoesNotMatch)


PATHS = ["/", "/sales", "/sales/main/a.csv", "/sales/main/a%20b%2Bc%3D%26.csv", "/sales/main/%C3%A0%F0%9F%8C%8A",
         "/sales/main//a/./b/../c", "/sales/main/a%25b~(1)!*'"]  # fmt: skip
QUERIES = ["", "uploads=", "list-type=2&prefix=a%20b%2Fc&delimiter=%2F", "uploadId=x&partNumber=2", "b=2&a=1&a=0",
           "versionId=%C3%A0&response-content-type=text%2Fplain"]  # fmt: skip


class TestWhatTheSDKSigns:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("path", PATHS)
    def test_is_accepted_whatever_the_path(self, home: Home, kind: str, path: str) -> None:
        assert home.verify(signed(kind, home.credential, path=path)).user == "ann"

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("query", QUERIES)
    def test_is_accepted_whatever_the_query(self, home: Home, kind: str, query: str) -> None:
        assert home.verify(signed(kind, home.credential, query=query)).user == "ann"

    @pytest.mark.parametrize("kind", KINDS)
    def test_is_accepted_whatever_the_headers(self, home: Home, kind: str) -> None:
        headers = {
            "content-type": "text/plain",
            "content-md5": "1B2M2Y8AsgTpgAmY7PhCfg==",
            "x-amz-meta-b": "two  spaces",
            "x-amz-meta-a": "first",
        }
        if "2" not in kind:
            headers["x-amz-meta-c"] = "à la carte"
        assert home.verify(signed(kind, home.credential, "PUT", headers=headers)).user == "ann"

    @settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.text("aZ09-._~/ +%=&;,:@!$'()*àž🌊", max_size=30), st.text("ab +%=&/à🌊~", max_size=20))
    def test_is_accepted_for_any_key_and_prefix(self, home: Home, key: str, prefix: str) -> None:
        path, query = "/sales/main/" + quote(key, safe="/~"), "prefix=" + quote(prefix, safe="-_.~")
        for kind in ("header", "query"):
            assert home.verify(signed(kind, home.credential, path=path, query=query)).user == "ann"

    def test_a_path_may_be_escaped_otherwise_on_the_way(self, home: Home) -> None:
        request = signed("header", home.credential, path="/sales/main/a%2Bb%3D1")
        assert home.verify(but(request, path="/sales/main/a+b=1")).user == "ann"

    def test_a_body_is_held_to_its_hash(self, home: Home) -> None:
        request = signed("header", home.credential, "PUT", body=b"the content")
        right, wrong = (drive(home.auth.signatures.verify(request, HERE)).body() for _ in range(2))
        assert [*right.feed(b"the "), *right.feed(b"content")] == [b"the ", b"content"]
        assert right.finish() == {}
        wrong.feed(b"the Content")
        with pytest.raises(XAmzContentSHA256Mismatch):
            wrong.finish()

    def test_a_presigned_body_is_anything(self, home: Home) -> None:
        body = drive(home.auth.signatures.verify(signed("query", home.credential, "PUT"), HERE)).body()
        assert body.feed(b"anything") == [b"anything"]
        assert body.finish() == {}


Alteration = Callable[[SignedRequest], SignedRequest]


def in_query(old: str, new: str) -> Alteration:
    def alter(request: SignedRequest) -> SignedRequest:
        assert old in request.query
        return but(request, query=request.query.replace(old, new, 1))

    return alter


def in_header(name: str, old: str, new: str) -> Alteration:
    def alter(request: SignedRequest) -> SignedRequest:
        assert old in request.headers[name]
        return but_header(request, name, request.headers[name].replace(old, new, 1))

    return alter


OF_EACH: dict[str, Alteration] = {
    "method": lambda request: but(request, method="PUT"),
    "path": lambda request: but(request, path=request.path + "x"),
    "repository": lambda request: but(request, path=request.path.replace("sales", "wages")),
    "a parameter": in_query("uploadId=x", "uploadId=y"),
    "a parameter's name": in_query("uploadId=", "versionId="),
    "a parameter gone": in_query("uploadId=x", ""),
    "a parameter more": lambda request: but(request, query=request.query + "&versionId=1"),
    "a header": in_header("x-amz-meta-a", "first", "second"),
    "content type": in_header("content-type", "plain", "html"),
}
OF_VERSION_4: dict[str, Alteration] = {
    "host": in_header("host", "lake", "sea"),
    "a parameter that version 2 leaves out": in_query("a=1", "a=3"),
    "a header gone": lambda request: but_header(request, "x-amz-meta-a", None),
}


class TestAltered:
    def request(self, home: Home, kind: str) -> SignedRequest:
        headers = {"content-type": "text/plain", "x-amz-meta-a": "first"}
        request = signed(kind, home.credential, query="uploadId=x&a=1", headers=headers)
        home.verify(request)
        return request

    @pytest.mark.parametrize("part", OF_EACH)
    @pytest.mark.parametrize("kind", KINDS)
    def test_a_request_is_refused(self, home: Home, kind: str, part: str) -> None:
        home.refused(OF_EACH[part](self.request(home, kind)), SignatureDoesNotMatch)

    @pytest.mark.parametrize("part", OF_VERSION_4)
    @pytest.mark.parametrize("kind", KINDS[:2])
    def test_version_4_covers_more(self, home: Home, kind: str, part: str) -> None:
        home.refused(OF_VERSION_4[part](self.request(home, kind)), SignatureDoesNotMatch)

    @pytest.mark.parametrize("kind", KINDS[:2])
    def test_a_header_with_a_meaning_cannot_be_added(self, home: Home, kind: str) -> None:
        request = but_header(self.request(home, kind), "x-amz-copy-source", "/wages/main/secret")
        assert "x-amz-copy-source" in home.refused(request, HeadersNotSigned)

    @pytest.mark.parametrize("kind", KINDS)
    def test_every_letter_of_a_signature_counts(self, home: Home, kind: str) -> None:
        request = self.request(home, kind)
        where = "query" if "query" in kind else "header"
        for position in (-2, -8):
            if where == "header":
                text = request.headers["authorization"]
                other = but_header(request, "authorization", _flipped(text, position))
            else:
                start = request.query.index("Signature=") + len("Signature=")
                end = (request.query + "&").index("&", start)
                signature = _flipped(request.query[start:end].replace("%3D", "=").replace("%3d", "="), position)
                other = but(request, query=request.query[:start] + signature + request.query[end:])
            home.refused(other, SignatureDoesNotMatch)

    def test_a_body_cannot_be_declared_unsigned_afterwards(self, home: Home) -> None:
        request = signed("header", home.credential, "PUT", body=b"the content")
        home.refused(but_header(request, "x-amz-content-sha256", "UNSIGNED-PAYLOAD"), SignatureDoesNotMatch)

    def test_a_signature_is_of_one_day_and_region(self, home: Home) -> None:
        request = signed("header", home.credential)
        day = time.strftime("%Y%m%d", time.gmtime(home.time.seconds))
        other = str(int(day) - 1)
        home.refused(in_header("authorization", "us-east-1", "us-east-2")(request), SignatureDoesNotMatch)
        home.refused(in_header("authorization", f"/{day}/", f"/{other}/")(request), AuthorizationHeaderMalformed)

    def test_of_another_user_it_is_refused(self, home: Home) -> None:
        bob = drive(home.auth.credentials.create(drive(home.auth.users.create("bob"))))
        mine, his = home.credential.access_key_id, bob.access_key_id
        for kind in KINDS:
            request = signed(kind, home.credential)
            swapped = but(
                request,
                query=request.query.replace(mine, his),
                headers={name: text.replace(mine, his) for name, text in request.headers.items()},
            )
            home.refused(swapped, SignatureDoesNotMatch)


def _flipped(text: str, position: int) -> str:
    letters = list(text)
    letters[position] = "a" if letters[position] != "a" else "b"
    return "".join(letters)


class TestTime:
    @pytest.mark.parametrize("kind", ["header", "header of version 2"])
    @pytest.mark.parametrize("later", [-16 * 60, 16 * 60])
    def test_a_request_is_of_about_now(self, home: Home, kind: str, later: int) -> None:
        request = signed(kind, home.credential)
        home.time.seconds += later
        home.refused(request, RequestTimeTooSkewed)
        home.time.seconds -= later * 0.9
        home.verify(request)

    @pytest.mark.parametrize("kind", ["query", "query of version 2"])
    def test_a_presigned_one_is_good_until_it_expires(self, home: Home, kind: str) -> None:
        request = signed(kind, home.credential, expires=3600)
        home.time.seconds += 3590
        home.verify(request)
        home.time.seconds += 20
        assert "expired" in home.refused(request, RequestExpired)

    def test_a_presigned_one_from_the_future_is_not_good_yet(self, home: Home) -> None:
        request = signed("query", home.credential)
        home.time.seconds -= 16 * 60
        assert "not valid yet" in home.refused(request, RequestExpired)

    @pytest.mark.parametrize("expires", [0, -1, 604_801])
    def test_nothing_is_presigned_for_longer_than_a_week(self, home: Home, expires: int) -> None:
        home.refused(signed("query", home.credential, expires=expires), AuthorizationQueryParametersError)

    def test_version_2_neither(self, home: Home) -> None:
        home.refused(signed("query of version 2", home.credential, expires=700_000), AuthorizationQueryParametersError)
        home.verify(signed("query of version 2", home.credential, expires=604_000))


class TestNonsense:
    @pytest.mark.parametrize(
        ("authorization", "error"),
        [
            ("AWS4-HMAC-SHA256 ", AuthorizationHeaderMalformed),
            ("AWS4-HMAC-SHA256 Credential=a/20130524/us-east-1/s3/aws4_request", AuthorizationHeaderMalformed),
            ("AWS4-HMAC-SHA256 " + "," * 9000, AuthorizationHeaderMalformed),
            ("AWS4-ECDSA-P256-SHA256 Credential=a", InvalidRequest),
            ("AWS ", AuthorizationHeaderMalformed),
            ("AWS :", AuthorizationHeaderMalformed),
            ("Basic YTpi", InvalidRequest),
        ],
    )
    def test_in_the_authorization_header(self, home: Home, authorization: str, error: type[SignatureError]) -> None:
        home.refused(SignedRequest("GET", "/", "", {"host": "a", "authorization": authorization}), error)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("/s3/aws4_request", "/ec2/aws4_request"),
            ("/s3/aws4_request", "/s3/aws5_request"),
            ("/s3/aws4_request", "/aws4_request"),
            ("SignedHeaders=host;", "SignedHeaders="),
            ("SignedHeaders=host;", "SignedHeaders=host;host;"),
            ("SignedHeaders=host;", "SignedHeaders=Host;"),
            ("Signature=", "Signature=0"),
            ("Signature=", "Signature=G"),
            ("Signature=", "Extra=1, Signature="),
        ],
    )
    def test_in_its_fields(self, home: Home, old: str, new: str) -> None:
        request = signed("header", home.credential)
        home.refused(in_header("authorization", old, new)(request), AuthorizationHeaderMalformed)

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("X-Amz-Algorithm=AWS4-HMAC-SHA256", "X-Amz-Algorithm=AWS4-HMAC-SHA1"),
            ("X-Amz-Algorithm=AWS4-HMAC-SHA256&", ""),
            ("X-Amz-Expires=3600", "X-Amz-Expires=soon"),
            ("X-Amz-Expires=3600", "X-Amz-Expires=3600&X-Amz-Expires=3600"),
            ("X-Amz-Date=2", "X-Amz-Date=x"),
            ("X-Amz-SignedHeaders=host", "X-Amz-SignedHeaders=date"),
            ("%2Fs3%2F", "%2Fiam%2F"),
            ("X-Amz-Signature=", "X-Amz-Signature=%00"),
        ],
    )
    def test_in_the_query(self, home: Home, old: str, new: str) -> None:
        home.refused(in_query(old, new)(signed("query", home.credential)), AuthorizationQueryParametersError)

    def test_in_the_other_headers(self, home: Home) -> None:
        request = signed("header", home.credential)
        home.refused(but_header(request, "x-amz-content-sha256", None), InvalidRequest)
        home.refused(but_header(request, "x-amz-content-sha256", "STREAMING-SOMETHING"), InvalidArgument)
        home.refused(but_header(request, "x-amz-date", None), NotSigned)
        home.refused(but_header(request, "x-amz-date", "yesterday"), NotSigned)
        home.refused(but_header(request, "x-amz-date", "20130230T000000Z"), NotSigned)
        home.refused(but_header(request, "x-amz-security-token", "x"), InvalidToken)
        home.refused(but_header(signed("query", home.credential), "x-amz-security-token", "x"), InvalidToken)

    def test_a_request_is_signed_once(self, home: Home) -> None:
        both = but(signed("header", home.credential), query=signed("query", home.credential).query)
        home.refused(both, InvalidArgument)

    def test_a_request_without_a_signature_is_told_from_others(self, home: Home) -> None:
        bare = SignedRequest("GET", "/sales", "prefix=X-Amz-", {"host": HERE})
        assert not is_signed(bare)
        home.refused(bare, NotSigned)
        assert not is_signed(but_header(bare, "authorization", "Basic YTpi"))
        assert all(is_signed(signed(kind, home.credential)) for kind in KINDS)

    @settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.sampled_from(["AWS4-HMAC-SHA256 ", "AWS ", ""]),
        st.text(max_size=60),
        st.text("X-Amz-Signature=Credential&%/;0aàé🌊", max_size=60),
        st.text(max_size=20),
    )
    def test_any_nonsense_is_an_error_of_ours(self, home: Home, scheme: str, rest: str, query: str, date: str) -> None:
        latin = {"host": "a", "authorization": scheme + rest, "x-amz-date": date, "x-amz-content-sha256": NOTHING}
        for headers in (latin, {"host": "a", "date": date}):
            with pytest.raises(SignatureError):
                home.verify(SignedRequest("GET", "/" + rest, query, headers))


class TestKeys:
    def test_an_unknown_access_key_is_told(self, home: Home) -> None:
        nobody = msgspec.structs.replace(home.credential, access_key_id="AKIAJUNKNOWNUNKNOWNQ")
        for kind in KINDS:
            home.refused(signed(kind, nobody), InvalidAccessKeyId)

    def test_a_request_costs_no_trip_once_its_key_is_known(self, home: Home) -> None:
        home.verify(signed("header", home.credential))
        with home.store.counted() as trips:
            home.verify(signed("header", home.credential, path="/sales/main/another"))
        assert trips == Trips()

    def test_a_deleted_key_signs_nothing(self, home: Home) -> None:
        other = home.process("other")
        request = signed("query", home.credential)
        home.verify(request)
        drive(other.signatures.verify(request, HERE))
        ann = drive(home.auth.users.get("ann"))
        drive(home.auth.credentials.delete(ann, home.credential.access_key_id))
        home.refused(request, InvalidAccessKeyId)
        home.time.seconds += BELIEVED + 0.001
        with pytest.raises(InvalidAccessKeyId):
            drive(other.signatures.verify(request, HERE))

    def test_an_access_key_that_comes_back_has_another_secret(self, home: Home) -> None:
        request = signed("query", home.credential)
        home.verify(request)
        ann = drive(home.auth.users.get("ann"))
        drive(home.auth.credentials.delete(ann, home.credential.access_key_id))
        drive(
            home.auth.credentials.create(
                ann, access_key_id=home.credential.access_key_id, secret_access_key="another" * 5
            )
        )
        home.refused(request, SignatureDoesNotMatch)

    def test_wrong_signatures_are_limited_for_those_who_never_had_it_right(self, home: Home) -> None:
        request = signed("query", home.credential)
        wrong = but(request, path="/wages")
        home.verify(request, "home")
        for number in range(ATTEMPTS_OF_KEY[0]):
            with pytest.raises(SignatureDoesNotMatch):
                home.verify(wrong, f"client-{number}")
        with pytest.raises(TooManyAttempts):
            home.verify(request, "elsewhere")
        home.verify(request, "home")


def test_headers_of_one_name_are_joined() -> None:
    pairs = [(b"X-Amz-Meta-A", b"1"), (b"host", b"h"), (b"x-amz-meta-a", b"\xc3\xa0")]
    assert headers_of(pairs) == {"x-amz-meta-a": "1,\xc3\xa0", "host": "h"}
