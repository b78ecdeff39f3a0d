import { BlockSession } from "../../../src/execution/blockSession.ts";
import { MemoryExhausted } from "../../../src/execution/memoryBudget.ts";
import { OutOfTime, type YieldPolicy } from "../../../src/execution/yieldPolicy.ts";
import { JournaledOverlay, type Overlay } from "../../../src/state/overlay.ts";
import { chainHashOf, theRules } from "../../../test/execution/context.ts";
import type { Case } from "./instructions.ts";
import { addressOf, SENDER, TARGET } from "./stage.ts";

/** As the rules of a block, which remember hashes of earlier blocks. */
const HASH = chainHashOf(0n);
const RULES = theRules("prague", { number: 1n, gasLimit: 10n ** 12n, hashOf: () => HASH });

export interface OurTime {
  readonly gas: number;
  readonly ms: number;
  /** The longest time between two checks of the yield policy. */
  readonly longestMs: number;
}

/** Runs a case with this gas on one thread; undefined when it exceeds the time limit. */
export async function runOurs(
  world: Overlay,
  one: Case,
  gas: number,
  limitMs: number,
): Promise<OurTime | undefined> {
  const overlay = new JournaledOverlay(world);
  overlay.putCode(addressOf(TARGET), one.code);
  overlay.beginTransaction();
  const watch = stopwatch(limitMs);
  const session = new BlockSession({ ...RULES, overlay, yieldPolicy: watch.pace });
  session.accesses.clear();
  for (const address of [SENDER, addressOf(TARGET), RULES.block.beneficiary]) session.accesses.warm(address);
  watch.begin();
  try {
    await session.evm.run({
      caller: SENDER,
      to: addressOf(TARGET),
      value: 0n,
      data: one.input,
      gasLimit: BigInt(gas),
      gasPrice: 0n,
      blobVersionedHashes: [],
    });
  } catch (error) {
    if (error instanceof OutOfTime || error instanceof MemoryExhausted) return undefined;
    throw error;
  }
  return { gas, ...watch.end() };
}

/** A yield policy that records the time between checks, and aborts at the time limit. */
function stopwatch(limitMs: number) {
  let begunMs = 0;
  let lastMs = 0;
  let longestMs = 0;
  const look = (): number => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
    return nowMs;
  };
  const pace: YieldPolicy = {
    isDue: () => look() - begunMs > limitMs,
    yield: () => Promise.reject(new OutOfTime("the case exceeds the time limit")),
  };
  return {
    pace,
    begin() {
      begunMs = performance.now();
      lastMs = begunMs;
    },
    end: () => ({ ms: look() - begunMs, longestMs }),
  };
}
