"""Tests PartiQL with Debian's boto3: single statements, batches and transactions."""

import unittest

from botocore.exceptions import ClientError

from mayfly_server import MayflyServer, key_schema


def setUpModule():
    global server, dynamodb
    server = MayflyServer.for_module()
    dynamodb = server.client("dynamodb")


def create_music(name):
    server.create_table(name, {"artist": "S", "year": "N"}, key_schema("artist", "year"))


def execute(statement, *parameters, **more):
    if parameters:
        more["Parameters"] = list(parameters)
    return dynamodb.execute_statement(Statement=statement, **more)


class PartiQL(unittest.TestCase):
    def test_a_statement_continues_across_several_partitions_with_next_token(self):
        create_music("pages")
        artists = [f"artist-{i:02}" for i in range(12)]
        for artist in artists:
            for year in (1964, 1966):
                execute(f"INSERT INTO pages VALUE {{'artist':'{artist}', 'year':?}}", {"N": str(year)})
        statement = f"SELECT artist, year FROM pages WHERE artist IN [{', '.join('?' * 12)}]"
        parameters = [{"S": artist} for artist in artists]
        for limit in (None, 1, 5, 24):
            with self.subTest(limit=limit):
                more = {} if limit is None else {"Limit": limit}
                found, sizes = [], []
                while True:
                    answer = execute(statement, *parameters, **more)
                    found += [(item["artist"]["S"], int(item["year"]["N"])) for item in answer["Items"]]
                    sizes.append(len(answer["Items"]))
                    if "NextToken" not in answer:
                        break
                    more["NextToken"] = answer["NextToken"]
                self.assertEqual(found, [(artist, year) for artist in artists for year in (1964, 1966)])
                self.assertLessEqual(max(sizes), limit or 20)  # ten look-ups of two items
        with self.assertRaises(ClientError) as raised:
            execute("SELECT * FROM pages", NextToken=more["NextToken"])
        self.assertEqual(raised.exception.response["Error"]["Message"], "NextToken does not match request")

    def test_a_statement_with_a_complete_primary_key_reads_or_writes_one_item(self):
        create_music("single")
        execute("INSERT INTO single VALUE {'artist':'Nina', 'year':1964, 'tags':<<'soul'>>}")
        with self.assertRaises(dynamodb.exceptions.DuplicateItemException):
            execute("INSERT INTO single VALUE {'artist':'Nina', 'year':1964}")
        answer = execute(
            "UPDATE single SET plays = ?, tags = set_add(tags, <<'jazz'>>) WHERE artist = 'Nina' AND year = 1964"
            " RETURNING ALL NEW *",
            {"N": "3"},
        )
        self.assertEqual(answer["Items"][0]["plays"], {"N": "3"})
        self.assertEqual(set(answer["Items"][0]["tags"]["SS"]), {"soul", "jazz"})
        with self.assertRaises(dynamodb.exceptions.ConditionalCheckFailedException):
            execute("UPDATE single SET plays = 4 WHERE artist = 'nobody' AND year = 1964")
        answer = execute("DELETE FROM single WHERE artist = 'Nina' AND year = 1964 RETURNING ALL OLD *")
        self.assertEqual(answer["Items"][0]["plays"], {"N": "3"})
        self.assertEqual(execute("SELECT * FROM single")["Items"], [])

    def test_each_statement_of_a_batch_has_its_own_outcome(self):
        create_music("batch")
        insert = "INSERT INTO batch VALUE {'artist':?, 'year':1964}"
        answer = dynamodb.batch_execute_statement(
            Statements=[{"Statement": insert, "Parameters": [{"S": artist}]} for artist in ("Nina", "Miles", "Nina")]
        )
        self.assertEqual([each.get("Error", {}).get("Code") for each in answer["Responses"]], [None, None, "DuplicateItem"])
        read = "SELECT year FROM batch WHERE artist = ? AND year = 1964"
        answer = dynamodb.batch_execute_statement(
            Statements=[{"Statement": read, "Parameters": [{"S": artist}]} for artist in ("Miles", "nobody")]
        )
        self.assertEqual([each.get("Item") for each in answer["Responses"]], [{"year": {"N": "1964"}}, None])

    def test_a_transaction_is_applied_completely_or_not_at_all(self):
        create_music("tickets")
        execute("INSERT INTO tickets VALUE {'artist':'Nina', 'year':1964, 'seats':1}")
        buy = "UPDATE tickets SET seats = seats - 1 WHERE artist = 'Nina' AND year = 1964 AND seats > 0"
        note = "INSERT INTO tickets VALUE {'artist':?, 'year':1}"

        def transact(buyer):
            return dynamodb.execute_transaction(
                TransactStatements=[{"Statement": buy}, {"Statement": note, "Parameters": [{"S": buyer}]}]
            )

        transact("a")
        with self.assertRaises(dynamodb.exceptions.TransactionCanceledException) as raised:
            transact("b")
        reasons = raised.exception.response["CancellationReasons"]
        self.assertEqual([reason["Code"] for reason in reasons], ["ConditionalCheckFailed", "None"])
        answer = dynamodb.execute_transaction(
            TransactStatements=[
                {"Statement": "SELECT seats FROM tickets WHERE artist = 'Nina' AND year = 1964"},
                {"Statement": "SELECT * FROM tickets WHERE artist = 'a' AND year = 1"},
                {"Statement": "SELECT * FROM tickets WHERE artist = 'b' AND year = 1"},
            ]
        )
        self.assertEqual(
            answer["Responses"],
            [{"Item": {"seats": {"N": "0"}}}, {"Item": {"artist": {"S": "a"}, "year": {"N": "1"}}}, {}],
        )
        exists = "EXISTS(SELECT * FROM tickets WHERE artist = 'Nina' AND year = 1964 AND seats = 0)"
        dynamodb.execute_transaction(
            TransactStatements=[{"Statement": exists}, {"Statement": note, "Parameters": [{"S": "c"}]}]
        )
        self.assertEqual(len(execute("SELECT * FROM tickets")["Items"]), 3)


if __name__ == "__main__":
    unittest.main()
