import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DEV_GENESIS_FILE } from "../../src/config/devNetwork.ts";
import { durationClock } from "../../src/primitives/clock.ts";
import type { PoolCalls } from "../../src/rpc/core/core.ts";
import { ethSendRawTransaction } from "../../src/rpc/methods/eth/sendRawTransaction.ts";
import type { RpcBackend } from "../../src/rpc/ports.ts";
import type { TransactionSender } from "../../src/rpc/threads/callerSide/transactionSender.ts";
import { MadeUpCalls } from "../../src/warmup/madeUpCalls.ts";
import { aChain } from "../builders/aChain.ts";
import { anRpcBackend } from "../builders/anRpcBackend.ts";

const HASH = /^0x[0-9a-f]{64}$/;

describe("made-up calls on a thread for callers", () => {
  it("are answered with a hash each, by the way that the thread's calls take", async () => {
    const backend = anRpcBackend(await aChain({ genesis: readFileSync(DEV_GENESIS_FILE, "utf8") }));
    const ways: unknown[] = [];
    const backendWith = (sender: TransactionSender): RpcBackend => {
      ways.push(sender);
      const submit: PoolCalls["submit"] = (raw, { remoteHost }) => sender.submit(raw, remoteHost);
      return { ...backend, pool: { ...backend.pool, submit } };
    };
    const calls = new MadeUpCalls([ethSendRawTransaction], backendWith, durationClock);
    expect(ways).toHaveLength(0);
    for (const [count, firstId] of [
      [5, 0],
      [15, 5],
    ] as const) {
      const answers = JSON.parse(await calls.answerBatch(count)) as { id: number; result: string }[];
      expect(answers.map(({ id }) => id)).toEqual(
        Array.from({ length: count }, (_, index) => firstId + index),
      );
      for (const { result } of answers) expect(result).toMatch(HASH);
    }
    expect(ways).toHaveLength(2);
    calls.close();
  });

  it("do not end the thread when they fail", async () => {
    const calls = new MadeUpCalls(
      [ethSendRawTransaction],
      () => {
        throw new Error("no backend");
      },
      durationClock,
    );
    await calls.answer(3);
    calls.close();
  });
});
