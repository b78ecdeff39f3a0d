import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
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
  chain.onHeadChanged(() => {
    throw failure;
  });
  chain.onHeadChanged(({ head }) => void heads.push(head.header.number));
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
