import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { HEAD_LISTENERS, type HeadChange, HeadListeners } from "../../src/chain/onNewHead.ts";
import { DEV_GENESIS_FILE, DEV_VALIDATOR_KEY } from "../../src/config/devNetwork.ts";
import { silentLogger } from "../../src/observability/logger.ts";
import { addressOfPrivateKey, sign } from "../../src/primitives/secp256k1.ts";
import { aChain } from "../builders/aChain.ts";
import { createHandClock } from "../builders/handClock.ts";

it("notifies all listeners of a committed head although one of them throws", async () => {
  const clock = createHandClock(1_800_000_000_000);
  const errors: unknown[] = [];
  const { chain } = await aChain({
    genesis: readFileSync(DEV_GENESIS_FILE, "utf8"),
    clock,
    builder: addressOfPrivateKey(DEV_VALIDATOR_KEY),
    logger: { ...silentLogger, error: ({ error }) => void errors.push(error) },
  });
  const heads: bigint[] = [];
  const failure = new Error("a listener's failure");
  chain.onHeadChanged("pool", () => {
    throw failure;
  });
  chain.onHeadChanged("metrics", ({ head }) => void heads.push(head.header.number));
  const empty = {
    select: () => ({ next: () => undefined, skipSender: () => undefined }),
    drop: () => undefined,
  };
  const built = await chain.build({ parent: chain.head, round: 0, timestamp: 1_800_000_000n }, empty);
  if (!built.ok) throw new Error(built.error.message);
  const committed = await chain.commit(built.value, [sign(built.value.digest, DEV_VALIDATOR_KEY)]);
  expect(committed.ok).toBe(true);
  expect(heads).toEqual([1n]);
  await chain.rewind(0n);
  expect(heads).toEqual([1n, 0n]);
  expect(errors).toEqual([failure, failure]);
});

it("tells the listeners in the order of the table, whenever they were added", () => {
  const listeners = new HeadListeners(silentLogger);
  const told: string[] = [];
  for (const row of HEAD_LISTENERS.toReversed()) listeners.add(row, () => void told.push(row));
  const remove = listeners.add("pool", () => void told.push("a second one of the pool"));
  listeners.announce({} as HeadChange);
  expect(told.filter((row) => !row.startsWith("a second"))).toEqual(HEAD_LISTENERS);
  expect(told.indexOf("a second one of the pool")).toBe(told.indexOf("pool") + 1);
  told.length = 0;
  remove();
  listeners.announce({} as HeadChange);
  expect(told).toEqual(HEAD_LISTENERS);
});
