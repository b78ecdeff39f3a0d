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

/** An Evm on top of the library's (@ethereumjs/evm); interpreter/forkEvm.ts lists which parts are ours. */
export function createEvm(parts: EvmParts): Evm {
  const { observer } = parts;
  const forkEvm = observer === undefined ? new ForkEvm(parts) : new ObservedEvm(parts, observer);
  const libraryBlock = toLibraryBlock(parts.block);
  let wasStopped = false;

  async function runCall(message: Message): Promise<EVMResult> {
    assert(!wasStopped, "an EVM that was stopped in the middle cannot be used again");
    try {
      return await forkEvm.runCall({
        block: libraryBlock,
        caller: new LibraryAddress(message.caller),
        ...(message.to !== undefined && { to: new LibraryAddress(message.to) }),
        value: message.value,
        data: message.data,
        gasLimit: message.gasLimit,
        gasPrice: message.gasPrice,
        blobVersionedHashes: message.blobVersionedHashes.map(toHex),
        skipNonceIncrement: true,
        ...forkEvm.begin(),
      });
    } catch (error) {
      wasStopped = true;
      forkEvm.unwind();
      throw error;
    }
  }

  return {
    async run(message) {
      const { execResult } = await runCall(message);
      forkEvm.release();
      return {
        outcome: outcomeOf(execResult, message.to !== undefined && forkEvm.isPrecompile(message.to)),
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
  // In Frontier a creation that cannot pay for storing its code succeeds without code.
  if (error === undefined || error === CODE_UNPAID) return { kind: "succeeded" };
  if (error !== REVERTED) return { kind: "halted", reason: haltReasonOf(error) };
  // The library also reports some failures of precompiled contracts as reverts.
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
  const deleted = keepsOldContracts ? all.filter((address) => createdAddresses?.has(address)) : all;
  return deleted.map((address) => asAddress(hexToBytes(address)));
}

function toLog([address, topics, data]: NonNullable<ExecResult["logs"]>[number]): Log {
  return { address: asAddress(address), topics: topics.map(asHash), data };
}
