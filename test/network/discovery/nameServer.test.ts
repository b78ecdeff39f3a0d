import { createSocket } from "node:dgram";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openNameServer } from "../../../src/network/discovery/nameServer.ts";

const server = createSocket("udp4");
beforeAll(
  () =>
    new Promise<void>((resolve) => {
      server.on("message", (query, { port, address }) => server.send(answerTo(query), port, address));
      server.bind(0, "127.0.0.1", resolve);
    }),
);
afterAll(() => void server.close());

it("a name server's TXT records are read, their pieces joined", async () => {
  const names = openNameServer(`127.0.0.1:${server.address().port}`);
  expect(await names.texts("list.example.org")).toEqual(["enrtree-branch:"]);
  names.close();
});

it("a name server that cannot be found is an error of each request", async () => {
  const names = openNameServer("absent.invalid");
  await expect(names.texts("list.example.org")).rejects.toThrow("absent.invalid");
  names.close();
});

/** The query with one TXT record of two pieces appended (RFC 1035). */
function answerTo(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(1, 6);
  header.writeUInt32BE(0, 8);
  const pieces = ["enrtree-", "branch:"].map((piece) =>
    Buffer.from(`${String.fromCharCode(piece.length)}${piece}`),
  );
  const data = Buffer.concat(pieces);
  const record = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, data.length]);
  return Buffer.concat([header, query.subarray(12, end), record, data]);
}
