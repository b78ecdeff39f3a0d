import { BlockSession } from "../../../src/execution/blockSession.ts";
import { type Evm, type EvmParts, nothingObserved } from "../../../src/execution/evm.ts";
import { executeTransaction } from "../../../src/execution/executeTransaction.ts";
import type { ExecutionObserver } from "../../../src/execution/observer.ts";
import { rulesOf } from "../../../src/execution/rules.ts";
import { NEVER_YIELD, type YieldPolicy } from "../../../src/execution/yieldPolicy.ts";
import { addressFromHex } from "../../../src/primitives/address.ts";
import { hashFromHex } from "../../../src/primitives/hash.ts";
import { hexToBytes, toHex } from "../../../src/primitives/hex.ts";
import type { WorldState } from "../../../src/state/worldState.ts";
import type { SentTransaction, TransactionType } from "../../../src/types/transaction.ts";
import { aTransaction } from "../../builders/aTransaction.ts";
import { worldOf } from "../../conformance/suites/preState.ts";
import { contextOf, hashOfLogs } from "../../conformance/suites/stateTest.ts";
import { forkOfVector } from "../../conformance/suites/vectorForks.ts";
import type { ProgramOutcome, ProgramTransaction, StateTestProgram } from "./stateTestProgram.ts";

/**
 * The one place where the fuzz meets our execution: a way of running code is a name and how its Evm is made, by default
 * as the node makes it. A second implementation of Evm is compared with go-ethereum by a second entry.
 */
export interface Path {
  readonly name: string;
  readonly createEvm?: (parts: EvmParts) => Evm;
}

/** The chain of the programs. */
export const CONFIG = { chainId: 1n, contractSizeLimitBytes: 24_576, stackLimit: 1024 };

export const PATHS: readonly [Path, ...Path[]] = [{ name: "ibex" }];

/** The state of one program in memory, on which its transaction can be run repeatedly; runs leave nothing behind. */
export interface OpenProgram {
  run(
    path: Path,
    gasLimit: bigint,
    how?: { readonly observer?: ExecutionObserver; readonly yieldPolicy?: YieldPolicy },
  ): Promise<ProgramOutcome>;
}

export async function openProgram(program: StateTestProgram): Promise<OpenProgram> {
  const world = await worldOf(program.pre);
  const transaction = transactionOf(program.transaction, program.gasLimit);
  const block = contextOf(program.env, program.fork);
  const rules = rulesOf(forkOfVector(program.fork));
  return {
    async run(path, gasLimit, { observer, yieldPolicy = NEVER_YIELD } = {}) {
      const overlay = world.overlay();
      const parts = { config: CONFIG, rules, block, overlay, yieldPolicy, observer };
      if (gasLimit > block.gasLimit) return { refusal: "gasLimitAboveBlock" };
      overlay.beginTransaction();
      // Only the gas limit differs from what was signed, and the sender is known.
      const sent = { ...transaction, gasLimit };
      const executed = await executeTransaction(sessionOn(new BlockSession(parts), path, observer), sent);
      if (!executed.ok) return { refusal: executed.error.code };
      const { outcome, logs, gasUsed, output } = executed.value;
      // No reward of zero follows, as in state tests: what it would create, the fee already has, and go-ethereum's runner
      // pays it before it deletes a beneficiary that destroyed itself.
      return {
        root: rootOf(world, overlay),
        logsHash: hashOfLogs(logs),
        gasUsed,
        hasSucceeded: outcome.kind === "succeeded",
        halt: outcome.kind === "halted" ? outcome.reason : undefined,
        output: toHex(output),
      };
    },
  };
}

function rootOf(world: WorldState, overlay: ReturnType<WorldState["overlay"]>): string {
  return toHex(world.stage(overlay.changes(), 1n).root);
}

/** A session whose code runs by a path. */
export function sessionOn(
  session: BlockSession,
  { createEvm }: Path,
  observer?: ExecutionObserver | undefined,
): BlockSession {
  if (createEvm === undefined) return session;
  const { config, rules, block, overlay, accesses, yieldPolicy } = session;
  const evm = createEvm({
    ...{ config, rules, block, overlay, accesses, yieldPolicy },
    observed: nothingObserved(),
    observer,
  });
  return Object.create(session, { evm: { value: evm } }) as BlockSession;
}

/** The signed transaction of a program with a gas limit. */
export function transactionOf(fields: ProgramTransaction, gasLimit: bigint): SentTransaction {
  const type = typeOf(fields);
  const { to, gasPrice = "0x0", maxFeePerGas = gasPrice, maxPriorityFeePerGas = "0x0" } = fields;
  return aTransaction({
    type,
    chainId: type === 0 ? undefined : 1n,
    nonce: BigInt(fields.nonce),
    gasPrice: BigInt(gasPrice),
    maxFeePerGas: BigInt(maxFeePerGas),
    maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas),
    gasLimit,
    to: to === "" ? undefined : addressFromHex(to),
    value: BigInt(fields.value),
    data: hexToBytes(fields.data),
    accessList: (fields.accessList ?? []).map(({ address, storageKeys }) => ({
      address: addressFromHex(address),
      storageKeys: storageKeys.map(hashFromHex),
    })),
    maxFeePerBlobGas: BigInt(fields.maxFeePerBlobGas ?? "0x0"),
    blobVersionedHashes: (fields.blobVersionedHashes ?? []).map(hashFromHex),
    authorizationList: (fields.authorizationList ?? []).map(({ chainId, address, nonce, v, r, s }) => ({
      chainId: BigInt(chainId),
      address: addressFromHex(address),
      nonce: BigInt(nonce),
      yParity: BigInt(v),
      r: BigInt(r),
      s: BigInt(s),
    })),
    privateKey: hexToBytes(fields.secretKey),
  });
}

function typeOf(fields: ProgramTransaction): TransactionType {
  if (fields.authorizationList !== undefined) return 4;
  if (fields.blobVersionedHashes !== undefined) return 3;
  if (fields.maxFeePerGas !== undefined) return 2;
  return fields.accessList === undefined ? 0 : 1;
}
