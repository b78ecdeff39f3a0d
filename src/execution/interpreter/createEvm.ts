import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { Machine } from "../../evm/machine.ts";
import { dropFreeMachines, dropMachine, returnMachine, takeMachine } from "../../evm/machinePool.ts";
import { assert } from "../../primitives/assert.ts";
import type { Eventual } from "../../primitives/eventual.ts";
import { atOnce } from "../../primitives/steps.ts";
import type { Evm, EvmParts, Message, MessageResult } from "../evm.ts";
import { MemoryBeyondLimit } from "../memoryBudget.ts";
import { begin, proceed, startingGas } from "./driver.ts";
import { gasSchedule } from "./gasSchedule.ts";
import { MessageWatch } from "./messageWatch.ts";
import { Observation } from "./observe.ts";
import { Run, type RunEnd } from "./run.ts";
import { TransientStorage } from "./transientStorage.ts";

/** An Evm on our own core (src/evm). */
export function createEvm(parts: EvmParts): Evm {
  const { rules, yieldPolicy, observer, messages } = parts;
  const table = gasSchedule(rules);
  const transient = new TransientStorage(yieldPolicy.memory);
  let wasStopped = false;

  function run(message: Message): Eventual<MessageResult> {
    assert(!wasStopped, "an EVM that was stopped in the middle cannot be used again");
    const kind = observer === undefined ? "plain" : "stepping";
    const observation = observer && new Observation(observer);
    const watch = observation ?? (messages && new MessageWatch(messages));
    const machine = takeMachine(kind);
    machine.begin(table.core);
    writeEnvironment(machine, parts, message);
    const running = new Run({ evm: parts, table, transient, machine, message, watch });
    if (observation !== undefined) observation.run = running;
    const goOn = (): Promise<unknown> | undefined =>
      observation === undefined ? proceed(running) : observation.proceed();
    const stop = (error: unknown): never => {
      dropMachine(machine);
      try {
        atOnce(running.unwindInSlices());
      } catch {
        // A fault in the middle of a checkpoint leaves nothing to revert to; the fault itself is reported.
      }
      return stopped(error);
    };
    const stopInSlices = async (error: unknown): Promise<never> => {
      dropMachine(machine);
      try {
        for (const _ of running.unwindInSlices()) await yieldToEventLoop();
      } catch {
        // Here, too, the fault itself is reported.
      }
      return stopped(error);
    };
    const stopped = (error: unknown): never => {
      if (error instanceof MemoryBeyondLimit && observation === undefined) {
        transient.clear();
        running.release(0);
      } else wasStopped = true;
      throw error;
    };
    const end = (): MessageResult => {
      returnMachine(kind, machine);
      transient.clear();
      running.release(0);
      return resultOf(running);
    };
    let waiting: Promise<unknown> | undefined;
    try {
      begin(running);
      waiting = goOn();
    } catch (error) {
      return stop(error);
    }
    return waiting === undefined ? end() : toEnd(waiting, goOn).then(end, stopInSlices);
  }

  return { run };
}

/** Makes the next message run on a new machine. */
export function discardMachines(): void {
  dropFreeMachines();
}

/** Continues after each wait, until nothing is left to wait for. */
async function toEnd(first: Promise<unknown>, goOn: () => Promise<unknown> | undefined): Promise<void> {
  for (let waiting: Promise<unknown> | undefined = first; waiting !== undefined; waiting = goOn())
    await waiting;
}

/** Writes what the instructions from ORIGIN to BLOBBASEFEE return, at the places where the core reads it. */
function writeEnvironment(
  machine: Machine,
  parts: EvmParts,
  { caller, gasPrice, blobVersionedHashes }: Message,
): void {
  const { block, config, rules } = parts;
  machine.setEnvironment(0, caller);
  machine.setEnvironment(1, gasPrice);
  machine.setEnvironment(2, block.beneficiary);
  machine.setEnvironment(3, block.timestamp);
  machine.setEnvironment(4, block.number);
  machine.setEnvironment(5, gasSchedule(rules).hasRandomness ? block.mixHash : block.difficulty);
  machine.setEnvironment(6, block.gasLimit);
  machine.setEnvironment(7, config.chainId);
  // Place 8 would be SELFBALANCE, which depends on more than the block.
  machine.setEnvironment(9, block.baseFeePerGas ?? 0n);
  machine.setEnvironment(10, BigInt(blobVersionedHashes.length));
  machine.setEnvironment(11, block.blobBaseFee);
}

function resultOf({ end, message, substate, refund, rules, effects }: Run): MessageResult {
  assert(end !== undefined, "the outermost message has ended");
  const hasSucceeded = end.outcome === "succeeded";
  return {
    outcome: outcomeOf(end),
    gasUsed: end.gasLeft === 0n ? message.gasLimit : startingGas(message) - end.gasLeft,
    gasRefund: hasSucceeded ? BigInt(refund) : 0n,
    output: end.output,
    logs: substate.logs,
    effects,
    destroyed: substate.destroyedAccounts.filter(
      (address) => !rules.keepsOldContracts || substate.isCreated(address),
    ),
  };
}

function outcomeOf({ outcome }: RunEnd): MessageResult["outcome"] {
  if (outcome === "succeeded" || outcome === "reverted") return { kind: outcome };
  return { kind: "halted", reason: outcome };
}
