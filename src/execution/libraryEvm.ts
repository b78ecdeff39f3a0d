import type { EVMResult } from "@ethereumjs/evm";
import { Address as LibraryAddress } from "@ethereumjs/util";
import { type Address, asAddress } from "../primitives/address.ts";
import { assert } from "../primitives/assert.ts";
import { asHash } from "../primitives/hash.ts";
import { hexToBytes, toHex } from "../primitives/hex.ts";
import type { Log } from "../types/log.ts";
import type { BlockContext } from "./blockContext.ts";
import type { Evm, EvmParts, Message, MessageResult } from "./evm.ts";
import { haltReasonOf } from "./haltReason.ts";
import { ForkEvm } from "./interpreter/forkEvm.ts";
import { ObservedEvm } from "./interpreter/observedEvm.ts";
import type { Rules } from "./rules.ts";

/** An Evm around the library's (@ethereumjs/evm); see interpreter/forkEvm.ts for which part is whose. */
export function createEvm(parts: EvmParts): Evm {
  const { observer } = parts;
  const machine = observer === undefined ? new ForkEvm(parts) : new ObservedEvm(parts, observer);
  const libraryBlock = toLibraryBlock(parts.block);
  let isSpent = false;

  async function runCall(message: Message): Promise<EVMResult> {
    assert(!isSpent, "a machine that was stopped in the middle is of no further use");
    try {
      return await machine.runCall({
        block: libraryBlock,
        caller: new LibraryAddress(message.caller),
        ...(message.to !== undefined && { to: new LibraryAddress(message.to) }),
        value: message.value,
        data: message.data,
        gasLimit: message.gasLimit,
        gasPrice: message.gasPrice,
        blobVersionedHashes: message.blobVersionedHashes.map(toHex),
        skipNonceIncrement: true,
        ...machine.begin(),
      });
    } catch (error) {
      isSpent = true;
      machine.unwind();
      throw error;
    }
  }

  return {
    async run(message) {
      const { execResult } = await runCall(message);
      machine.release();
      return {
        outcome: outcomeOf(execResult, message.to !== undefined && machine.isPrecompile(message.to)),
        gasUsed: execResult.executionGasUsed,
        gasRefund: execResult.gasRefund ?? 0n,
        output: execResult.returnValue,
        logs: execResult.logs?.map(toLog) ?? [],
        destroyed: destroyedBy(execResult, parts.rules),
      };
    },
  };
}

function toLibraryBlock(block: BlockContext) {
  return {
    header: {
      number: block.number,
      coinbase: new LibraryAddress(block.beneficiary),
      timestamp: block.timestamp,
      difficulty: block.difficulty,
      prevRandao: block.mixHash,
      gasLimit: block.gasLimit,
      ...(block.baseFeePerGas !== undefined && { baseFeePerGas: block.baseFeePerGas }),
      getBlobGasPrice: () => block.blobBaseFee,
    },
  };
}

type ExecResult = EVMResult["execResult"];

function outcomeOf(result: ExecResult, isPrecompile: boolean): MessageResult["outcome"] {
  const error = result.exceptionError?.error;
  // In Frontier a contract that cannot pay for its code simply stays without.
  if (error === undefined || error === CODE_UNPAID) return { kind: "succeeded" };
  if (error !== REVERTED) return { kind: "halted", reason: haltReasonOf(error) };
  // The library's word for some failures of precompiled contracts.
  return isPrecompile ? { kind: "halted", reason: "PRECOMPILE_ERROR" } : { kind: "reverted" };
}

const CODE_UNPAID = "code store out of gas";
const REVERTED = "revert";

function destroyedBy(
  { selfdestruct, createdAddresses }: ExecResult,
  { keepsOldContracts }: Rules,
): Address[] {
  if (selfdestruct === undefined || selfdestruct.size === 0) return [];
  const all = [...selfdestruct.keys()];
  const doomed = keepsOldContracts ? all.filter((address) => createdAddresses?.has(address)) : all;
  return doomed.map((address) => asAddress(hexToBytes(address)));
}

function toLog([address, topics, data]: NonNullable<ExecResult["logs"]>[number]): Log {
  return { address: asAddress(address), topics: topics.map(asHash), data };
}
