import { describe, expect, it } from "vitest";
import type { JsonPiece } from "../../src/primitives/jsonPieces.ts";
import { answerBatch, BATCH_PIECE_LENGTH } from "../../src/rpc/batch.ts";
import { InFlightReplies } from "../../src/rpc/inFlightReplies.ts";
import { RawJson } from "../../src/rpc/method.ts";
import { answerReply, type Reply } from "../../src/rpc/reply.ts";
import { CallerPacer, CallerTime } from "../../src/rpc/server/callerTime.ts";

/** A bit more than half a piece, so that each second one is sent. */
const LONG = BATCH_PIECE_LENGTH / 2;

interface Sent {
  readonly pieces: readonly JsonPiece[];
  /** What is returned in the end. */
  readonly rest: JsonPiece;
  readonly text: string;
}

async function sent(replies: readonly Reply[]): Promise<Sent> {
  const pieces: JsonPiece[] = [];
  const inFlight = new InFlightReplies(() => undefined);
  const batch = {
    requests: replies.map(() => ({ method: "a" })),
    begin: (index: number) => inFlight.add(replies[index] as Reply),
    overlapLimit: () => 1,
    isAbandoned: () => false,
    inFlight,
    pacer: new CallerPacer(new CallerTime(), "host"),
  };
  const rest = await answerBatch(batch, (piece) => void pieces.push(piece));
  const bytes = [...pieces, rest].map((piece) => Buffer.from(piece as string));
  return { pieces, rest, text: Buffer.concat(bytes).toString("utf8") };
}

describe("the answer to a long batch", () => {
  it("is sent in bytes where it is known to be ASCII, and as text where it is not", async () => {
    const ascii = answerReply("1", new RawJson(`"${"x".repeat(LONG)}"`, "ascii"));
    const others = [
      answerReply('"Ł"', new RawJson(`"${"x".repeat(LONG)}"`, "ascii")),
      answerReply("1", "Łódź".repeat(LONG)),
      { text: '"é"', pieces: ['"é', "é".repeat(2 * LONG), 'é"'], error: undefined },
    ];
    const plain = await sent([ascii, ascii, ascii]);
    expect(plain.pieces.map((piece) => typeof piece)).toEqual(["object"]);
    expect(JSON.parse(plain.text)).toHaveLength(3);
    for (const other of others) {
      const mixed = await sent([ascii, other, ascii, ascii, other, other]);
      const textOf = ({ text, pieces }: Reply) => (pieces === undefined ? text : [...pieces].join(""));
      expect(mixed.text).toBe(`[${[ascii, other, ascii, ascii, other, other].map(textOf).join(",")}]`);
      expect(mixed.pieces.some((piece) => typeof piece === "string")).toBe(true);
    }
  });

  it("is in bytes also where it is one piece, unless it is short", async () => {
    const ascii = answerReply("1", new RawJson(`"${"x".repeat(1_000)}"`, "ascii"));
    const other = answerReply("1", "é");
    for (const [replies, kind] of [
      [Array(20).fill(ascii), "object"],
      [[ascii, ascii], "string"],
      [[...Array(20).fill(ascii), other], "string"],
    ] as const) {
      const { rest, text, pieces } = await sent(replies);
      expect(pieces).toEqual([]);
      expect(typeof rest).toBe(kind);
      expect(text).toBe(`[${replies.map((reply) => reply.text).join(",")}]`);
    }
  });
});
