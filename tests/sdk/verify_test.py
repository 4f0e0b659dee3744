"""A server that is killed under load leaves a directory in which `mayfly verify` finds nothing wrong."""

import os
import subprocess
import tempfile
import threading
import time
import unittest

from botocore.exceptions import BotoCoreError

from mayfly_server import MayflyServer, binary, eventually, index, key_schema, stream

WRITERS = 4
ROUNDS = 3
WRITES_BEFORE_THE_END = 200


def verify(directory):
    return subprocess.run([binary(), "verify", "--data", directory], capture_output=True, text=True)


class KilledUnderLoad(unittest.TestCase):
    def write(self, client, writer):
        """Puts and deletes items until the server is killed. Items with a TTL within two seconds expire in the meantime."""
        for n in range(1_000_000):
            key = {"id": {"S": f"{writer}-{n % 40}"}}
            values = {"user": {"S": f"u{n % 7}"}, "ttl": {"N": str(int(time.time()) + n % 3)}}
            try:
                client.put_item(TableName="carts", Item={**key, **values})
                if n % 5 == 0:
                    client.delete_item(TableName="carts", Key=key)
            except (BotoCoreError, OSError):
                return
            self.written[writer] += 1

    def test_verify_finds_no_damage_after_the_server_is_killed(self):
        parent = tempfile.TemporaryDirectory(prefix="mayfly-data-")
        self.addCleanup(parent.cleanup)
        directory = os.path.join(parent.name, "data")
        for round_number in range(ROUNDS):
            server = MayflyServer("--data", directory)
            if round_number == 0:
                server.create_table(
                    "carts",
                    {"id": "S", "user": "S"},
                    key_schema("id"),
                    ttl="ttl",
                    GlobalSecondaryIndexes=[index("by_user", "user")],
                    StreamSpecification=stream(),
                )
            self.written = [0] * WRITERS
            threads = [
                threading.Thread(target=self.write, args=(server.client("dynamodb"), writer))
                for writer in range(WRITERS)
            ]
            for thread in threads:
                thread.start()
            eventually(lambda: sum(self.written) > WRITES_BEFORE_THE_END, 60)
            in_use = verify(directory)
            self.assertEqual((in_use.returncode, in_use.stdout), (2, ""))
            server.kill()
            for thread in threads:
                thread.join()
            checked = verify(directory)
            self.assertEqual((checked.returncode, checked.stderr), (0, ""), checked.stdout)
            self.assertTrue(checked.stdout.startswith("checked 1 table, "), checked.stdout)
            self.assertTrue(checked.stdout.endswith("\n0 problems\n"), checked.stdout)


if __name__ == "__main__":
    unittest.main()
