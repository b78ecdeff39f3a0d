import { describe, expect, it } from "vitest";
import { type Batch, Channel, type Posted } from "../../../src/workers/channel/channel.ts";
import { Credit, createCreditMemory, forgetCredits } from "../../../src/workers/channel/credit.ts";
import { batchesOf } from "../../builders/aChannel.ts";
import { takeTimeouts } from "../../builders/handTimeouts.ts";

interface Words {
  readonly word: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly anything: unknown;
}

const LIMITS = {
  word: { from: "one", most: { messages: 3, bytes: 100, of: "each thread" } },
  bytes: { from: "one", most: { bytes: 100, of: "all threads" } },
  anything: { from: "one" },
} as const;

/** Two ends; what is posted is cloned, as between threads, and waits until the test hands it over. */
function twoEnds(memory = createCreditMemory(LIMITS, 2), thread = 0) {
  const posted: Posted<Words>[] = [];
  const sender = new Channel<Words, object>(LIMITS as never, { memory, thread }, (sent, transferred) =>
    posted.push(structuredClone(sent, { transfer: [...transferred] })),
  );
  const receiver = new Channel<object, Words>(LIMITS as never, { memory, thread }, () => undefined);
  const creditOf = (kind: keyof Words) => new Credit(LIMITS, kind, memory, thread);
  return { sender, receiver, posted, creditOf };
}

const nextCycle = () => new Promise((resolve) => setImmediate(resolve));

function gathererOf(batch: Batch<Words>, cannotSend?: () => void) {
  return cannotSend === undefined ? { takeBatch: () => batch } : { takeBatch: () => batch, cannotSend };
}

describe("a channel", () => {
  it("posts what was gathered in one event-loop cycle at once, and hands its memory over", async () => {
    const { sender, posted } = twoEnds();
    const bytes = Uint8Array.of(1, 2, 3);
    sender.gather(gathererOf({ kind: "word", content: "gathered", messages: 1, bytes: 8 }));
    sender.gather(
      gathererOf({ kind: "bytes", content: bytes, messages: 1, bytes: 3, transferred: [bytes.buffer] }),
    );
    sender.send("word", "at once");
    expect(posted).toEqual([["word", "at once", 0, 0]]);
    await nextCycle();
    expect(posted[1]).toEqual(["word", "gathered", 1, 8, "bytes", Uint8Array.of(1, 2, 3), 1, 3]);
    expect(bytes.length).toBe(0);
  });

  it("refuses what is beyond the limit until the receiver has worked on what lies there", async () => {
    const { sender, receiver, posted, creditOf } = twoEnds();
    const offers = ["a", "b", "c", "d"].map((word) => sender.offer("word", word, 1, 10));
    expect(offers).toEqual([true, true, true, false]);
    expect([creditOf("word").messages, creditOf("word").bytes]).toEqual([3, 30]);
    let finish = (): void => undefined;
    const work = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const words: string[] = [];
    const handlers = {
      word(word: string) {
        words.push(word);
        return word === "b" ? work : undefined;
      },
      bytes: () => undefined,
      anything: () => undefined,
    };
    for (const message of posted.splice(0)) receiver.receive(message, handlers);
    expect(words).toEqual(["a", "b", "c"]);
    expect(creditOf("word").messages).toBe(1);
    finish();
    await nextCycle();
    expect([creditOf("word").messages, creditOf("word").bytes]).toEqual([0, 0]);
    expect(sender.offer("word", "too long", 1, 101)).toBe(false);
    expect(sender.offer("word", "e", 1, 100)).toBe(true);
  });

  it("counts nothing for what cannot be cloned, and sends the rest of its cycle", async () => {
    const { sender, posted, creditOf } = twoEnds();
    const noClone = (): undefined => undefined;
    expect(() => sender.offer("anything", noClone)).toThrow("could not be cloned");
    expect(creditOf("anything").messages).toBe(0);
    let failures = 0;
    const unsendable: Batch<Words> = { kind: "anything", content: noClone, messages: 0, bytes: 0 };
    sender.gather(gathererOf(unsendable, () => failures++));
    sender.gather(gathererOf({ kind: "word", content: "sent", messages: 0, bytes: 0 }));
    await nextCycle();
    expect(failures).toBe(1);
    expect(posted.flatMap(batchesOf).map(({ content }) => content)).toEqual(["sent"]);
  });

  it("waits for room, which it looks for now and then, until it is dropped", async () => {
    const timeouts = takeTimeouts();
    const { sender, posted, creditOf } = twoEnds();
    for (const word of ["a", "b", "c"]) sender.offer("word", word);
    const done: string[] = [];
    void sender.whenRoom(() => sender.offer("word", "d")).then(() => done.push("sent"));
    await timeouts.advanceBy(1000);
    expect(done).toEqual([]);
    creditOf("word").giveBack(1);
    await timeouts.advanceBy(10);
    expect(done).toEqual(["sent"]);
    void sender.whenRoom(() => false).then(() => done.push("dropped"));
    sender.gather(gathererOf({ kind: "word", content: "late", messages: 0, bytes: 0 }));
    sender.drop();
    sender.send("word", "later", 1);
    await timeouts.advanceBy(10);
    expect(done).toEqual(["sent", "dropped"]);
    expect(posted.flatMap(batchesOf).map(({ content }) => content)).toEqual(["a", "b", "c", "d"]);
    expect(creditOf("word").messages).toBe(3);
  });
});

describe("the credit of a kind of message", () => {
  it("has one limit for all threads or one for each, and what lay before a thread that ended is forgotten", () => {
    const memory = createCreditMemory(LIMITS, 2);
    const [first, second] = [0, 1].map((thread) => ({
      bytes: new Credit(LIMITS, "bytes", memory, thread),
      word: new Credit(LIMITS, "word", memory, thread),
    })) as [Record<"bytes" | "word", Credit>, Record<"bytes" | "word", Credit>];
    expect(first.bytes.take(1, 60)).toBe(true);
    expect(second.bytes.take(1, 41)).toBe(false);
    expect(second.bytes.take(1, 40)).toBe(true);
    expect([first.bytes.bytes, second.bytes.bytes, first.bytes.isFull]).toEqual([100, 100, true]);
    expect([first.word.take(3), second.word.take(3), second.word.take(1)]).toEqual([true, true, false]);
    forgetCredits(memory, 0);
    expect([first.bytes.bytes, second.bytes.bytes]).toEqual([40, 40]);
    expect([first.word.isUnused, second.word.messages]).toEqual([true, 3]);
  });
});
