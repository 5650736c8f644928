// The part of HBase's Thrift 2 service that a store needs, by the names and numbers of Apache HBase 2.

struct TColumn { 1: required binary family, 2: optional binary qualifier, 3: optional i64 timestamp }
struct TColumnValue { 1: required binary family, 2: required binary qualifier, 3: required binary value, 4: optional i64 timestamp }
struct TResult { 1: optional binary row, 2: required list<TColumnValue> columnValues }

enum TDurability { USE_DEFAULT = 0, SKIP_WAL = 1, ASYNC_WAL = 2, SYNC_WAL = 3, FSYNC_WAL = 4 }
enum TDeleteType { DELETE_COLUMN = 0, DELETE_COLUMNS = 1, DELETE_FAMILY = 2, DELETE_FAMILY_VERSION = 3 }

struct TGet { 1: required binary row, 2: optional list<TColumn> columns }
struct TPut { 1: required binary row, 2: required list<TColumnValue> columnValues, 6: optional TDurability durability }
struct TDelete {
  1: required binary row, 2: optional list<TColumn> columns, 3: optional i64 timestamp,
  4: optional TDeleteType deleteType, 7: optional TDurability durability
}
struct TScan {
  1: optional binary startRow, 2: optional binary stopRow, 3: optional list<TColumn> columns, 4: optional i32 caching,
  15: optional i32 limit
}

struct TTableName { 1: optional binary ns, 2: required binary qualifier }
struct TColumnFamilyDescriptor { 1: required binary name, 2: optional map<binary, binary> attributes, 10: optional i32 maxVersions }
struct TTableDescriptor { 1: required TTableName tableName, 2: optional list<TColumnFamilyDescriptor> columns }

exception TIOError { 1: optional string message, 2: optional bool canRetry }

service THBaseService {
  TResult get(1: required binary table, 2: required TGet tget) throws (1: TIOError io)
  list<TResult> getMultiple(1: required binary table, 2: required list<TGet> tgets) throws (1: TIOError io)
  void put(1: required binary table, 2: required TPut tput) throws (1: TIOError io)
  bool checkAndPut(
    1: required binary table, 2: required binary row, 3: required binary family, 4: required binary qualifier,
    5: binary value, 6: required TPut tput
  ) throws (1: TIOError io)
  void putMultiple(1: required binary table, 2: required list<TPut> tputs) throws (1: TIOError io)
  void deleteSingle(1: required binary table, 2: required TDelete tdelete) throws (1: TIOError io)
  list<TDelete> deleteMultiple(1: required binary table, 2: required list<TDelete> tdeletes) throws (1: TIOError io)
  list<TResult> getScannerResults(1: required binary table, 2: required TScan tscan, 3: i32 numRows) throws (1: TIOError io)
  bool tableExists(1: TTableName tableName) throws (1: TIOError io)
  TTableDescriptor getTableDescriptor(1: required TTableName table) throws (1: TIOError io)
  void createTable(1: required TTableDescriptor desc, 2: optional list<binary> splitKeys) throws (1: TIOError io)
}
