import { describe, expect, it } from "vitest";
import type { RemoteSigner } from "../../../src/consensus/ports.ts";
import { keyNoticePayload } from "../../../src/consensus/sharedKey/notice.ts";
import { NoticeSigner } from "../../../src/consensus/sharedKey/noticeSigner.ts";
import { messageHash } from "../../../src/ibft/codec/encoding.ts";
import type { SignedMessage } from "../../../src/ibft/message.ts";
import { bigintToFixedBytes } from "../../../src/primitives/quantity.ts";
import { addressOfPrivateKey, sign } from "../../../src/primitives/secp256k1.ts";
import { createHandClock } from "../../builders/handClock.ts";
import { settle } from "../toyNode.ts";

const KEY = bigintToFixedBytes(7n, 32);
const SELF = addressOfPrivateKey(KEY);

/** A signer in another process, which answers when the test says so. */
function aRemote() {
  const clock = createHandClock(0);
  const sent: SignedMessage[] = [];
  const asked: (() => void)[] = [];
  const signer: RemoteSigner = {
    sign: ({ digest }, signal) =>
      new Promise((resolve) => {
        asked.push(() => resolve(sign(digest, KEY)));
        signal.addEventListener("abort", () => resolve(undefined));
      }),
  };
  const parts = { rules: { self: SELF }, signer, clock };
  const notices = new NoticeSigner(parts, (message) => sent.push(message));
  const ask = (atMs: number): void => notices.send(payloadAt(atMs));
  return { clock, sent, asked, end: () => notices.end(), ask };
}

const payloadAt = (atMs: number) => keyNoticePayload({ kind: "ask", key: SELF, atMs, ageSeconds: 0 });

describe("a notice of a shared key", () => {
  it("goes out when the remote signer has signed it", async () => {
    const { ask, asked, sent } = aRemote();
    ask(5);
    expect(sent).toEqual([]);
    asked[0]?.();
    await settle();
    const payload = payloadAt(5);
    const signature = sign(messageHash(payload), KEY);
    expect(sent).toEqual([{ kind: "prepare", signed: { payload, signature, author: SELF } }]);
  });

  it("is dropped after two seconds, and at the end", async () => {
    const { clock, ask, asked, sent, end } = aRemote();
    ask(1);
    clock.advanceBy(2_000);
    ask(2);
    end();
    for (const answer of asked) answer();
    await settle();
    expect([asked.length, sent]).toEqual([2, []]);
  });

  it("is not asked for while two wait, so that votes have the signer", async () => {
    const { ask, asked, sent } = aRemote();
    for (const atMs of [1, 2, 3]) ask(atMs);
    expect(asked).toHaveLength(2);
    asked[0]?.();
    await settle();
    ask(4);
    expect([asked.length, sent.length]).toEqual([3, 1]);
  });
});
