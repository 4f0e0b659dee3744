#include "compat/partiql/keywords.h"

#include <algorithm>
#include <array>
#include <string>

namespace mayfly::compat::partiql {
namespace {

// Both lists are sorted.
// clang-format off
constexpr auto keywords = std::to_array<std::string_view>(
    {"ABSOLUTE", "ACTION", "ADD", "ALL", "ALLOCATE", "ALTER", "AND", "ANY", "ARE", "AS", "ASC",
     "ASSERTION", "AT", "AUTHORIZATION", "AVG", "BAG", "BEGIN", "BETWEEN", "BIGINT", "BIT", "BIT_LENGTH",
     "BLOB", "BOOL", "BOOLEAN", "BY", "CAN_CAST", "CAN_LOSSLESS_CAST", "CASCADE", "CASCADED", "CASE",
     "CAST", "CATALOG", "CHAR", "CHARACTER", "CHARACTER_LENGTH", "CHAR_LENGTH", "CHECK", "CLOB", "CLOSE",
     "COALESCE", "COLLATE", "COLLATION", "COLUMN", "COMMIT", "CONFLICT", "CONNECT", "CONNECTION",
     "CONSTRAINT", "CONSTRAINTS", "CONTINUE", "CONVERT", "CORRESPONDING", "COUNT", "CREATE", "CROSS",
     "CURRENT", "CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "CURRENT_USER", "CURSOR", "DATE",
     "DATE_ADD", "DATE_DIFF", "DEALLOCATE", "DEC", "DECIMAL", "DECLARE", "DEFAULT", "DEFERRABLE",
     "DEFERRED", "DELETE", "DESC", "DESCRIBE", "DESCRIPTOR", "DIAGNOSTICS", "DISCONNECT", "DISTINCT", "DO",
     "DOMAIN", "DOUBLE", "DROP", "ELSE", "END", "ESCAPE", "EXCEPT", "EXCEPTION", "EXEC", "EXECUTE",
     "EXISTS", "EXTERNAL", "EXTRACT", "FALSE", "FETCH", "FIRST", "FLOAT", "FOR", "FOREIGN", "FOUND",
     "FROM", "FULL", "GET", "GLOBAL", "GO", "GOTO", "GRANT", "GROUP", "HAVING", "IDENTITY", "IMMEDIATE",
     "IN", "INDEX", "INDICATOR", "INITIALLY", "INNER", "INPUT", "INSENSITIVE", "INSERT", "INT", "INT2",
     "INT4", "INT8", "INTEGER", "INTEGER2", "INTEGER4", "INTEGER8", "INTERSECT", "INTERVAL", "INTO", "IS",
     "ISOLATION", "JOIN", "KEY", "LANGUAGE", "LAST", "LEFT", "LET", "LEVEL", "LIKE", "LIMIT", "LIST",
     "LOCAL", "LOWER", "MATCH", "MAX", "MIN", "MISSING", "MODIFIED", "MODULE", "NAMES", "NATIONAL",
     "NATURAL", "NCHAR", "NEW", "NEXT", "NO", "NOT", "NOTHING", "NULL", "NULLIF", "NUMERIC",
     "OCTET_LENGTH", "OF", "OFFSET", "OLD", "ON", "ONLY", "OPEN", "OPTION", "OR", "ORDER", "OUTER",
     "OUTPUT", "OVERLAPS", "PAD", "PARTIAL", "PIVOT", "POSITION", "PRECISION", "PREPARE", "PRESERVE",
     "PRIMARY", "PRIOR", "PRIVILEGES", "PROCEDURE", "PUBLIC", "READ", "REAL", "REFERENCES", "RELATIVE",
     "REMOVE", "RESTRICT", "RETURNING", "REVOKE", "RIGHT", "ROLLBACK", "ROWS", "SCHEMA", "SCROLL",
     "SECTION", "SELECT", "SESSION", "SESSION_USER", "SET", "SEXP", "SIZE", "SMALLINT", "SOME", "SPACE",
     "SQL", "SQLCODE", "SQLERROR", "SQLSTATE", "STRING", "STRUCT", "SUBSTRING", "SUM", "SYMBOL",
     "SYSTEM_USER", "TABLE", "TEMPORARY", "THEN", "TIME", "TIMESTAMP", "TO", "TRANSACTION", "TRANSLATE",
     "TRANSLATION", "TRIM", "TRUE", "TUPLE", "UNION", "UNIQUE", "UNKNOWN", "UNPIVOT", "UPDATE", "UPPER",
     "USAGE", "USER", "USING", "VALUE", "VALUES", "VARCHAR", "VARYING", "VIEW", "WHEN", "WHENEVER",
     "WHERE", "WITH", "WORK", "WRITE", "ZONE"});
constexpr auto function_names = std::to_array<std::string_view>(
    {"AVG", "BAG", "BIT_LENGTH", "CHARACTER_LENGTH", "CHAR_LENGTH", "COALESCE", "COUNT", "EXISTS", "LIST",
     "LOWER", "MAX", "MIN", "NULLIF", "OCTET_LENGTH", "SEXP", "SIZE", "SUBSTRING", "SUM", "UPPER"});
// clang-format on

std::string upper_word(std::string_view word) {
  std::string out(word);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

}  // namespace

bool is_keyword(std::string_view word) {
  return std::binary_search(keywords.begin(), keywords.end(), upper_word(word));
}

bool is_function_name(std::string_view word) {
  return std::binary_search(function_names.begin(), function_names.end(), upper_word(word));
}

}  // namespace mayfly::compat::partiql
