import type { Common } from "@ethereumjs/common";
import {
  EVM,
  type EVMResult,
  getActivePrecompiles,
  type Message as LibraryMessage,
  NobleBLS,
  NobleBN254,
} from "@ethereumjs/evm";
import { Address as LibraryAddress } from "@ethereumjs/util";
import { type Address, asAddress } from "../primitives/address.ts";
import { assert } from "../primitives/assert.ts";
import { asHash, ZERO_HASH } from "../primitives/hash.ts";
import { hexToBytes, toHex } from "../primitives/hex.ts";
import type { Log } from "../types/log.ts";
import type { BlockContext } from "./blockContext.ts";
import type { Evm, EvmParts, Message, MessageResult, Observed } from "./evm.ts";
import { haltReasonOf } from "./haltReason.ts";
import { type ChainTerms, libraryCommon } from "./libraryCommon.ts";
import { LibraryJournal } from "./libraryJournal.ts";
import { type OpcodeTables, opcodeTables } from "./libraryOpcodes.ts";
import { LibraryState } from "./libraryState.ts";
import type { Pace } from "./pace.ts";
import { POINT_EVALUATION } from "./pointEvaluation.ts";
import type { Rules } from "./rules.ts";

/** An Evm around the library's interpreter (@ethereumjs/evm). */
export function createEvm(parts: EvmParts): Evm {
  const { terms, rules, block, overlay, accesses } = parts;
  const state = new LibraryState(overlay);
  const journal = new LibraryJournal(accesses, overlay, state);
  const interpreter = new ForkEvm(libraryCommon(terms, rules.fork), state, journal, parts);
  const libraryBlock = toLibraryBlock(block);
  let isSpent = false;

  async function runCall(message: Message): Promise<EVMResult> {
    assert(!isSpent, "an interpreter that was stopped in the middle is of no further use");
    try {
      return await interpreter.runCall({
        block: libraryBlock,
        caller: new LibraryAddress(message.caller),
        ...(message.to !== undefined && { to: new LibraryAddress(message.to) }),
        value: message.value,
        data: message.data,
        gasLimit: message.gasLimit,
        gasPrice: message.gasPrice,
        blobVersionedHashes: message.blobVersionedHashes.map(toHex),
        skipNonceIncrement: true,
      });
    } catch (error) {
      isSpent = true;
      journal.unwind();
      throw error;
    }
  }

  return {
    async run(message) {
      const { execResult } = await runCall(message);
      return {
        outcome: outcomeOf(execResult, message.to !== undefined && interpreter.isPrecompile(message.to)),
        gasUsed: execResult.executionGasUsed,
        gasRefund: execResult.gasRefund ?? 0n,
        output: execResult.returnValue,
        logs: execResult.logs?.map(toLog) ?? [],
        destroyed: destroyedBy(execResult, rules),
      };
    },
  };
}

/** Keys (hex without prefix) of the contracts that the rules bring along; they are always warm (EIP-2929). */
export function precompileKeys(terms: ChainTerms, rules: Rules): ReadonlySet<string> {
  const common = libraryCommon(terms, rules.fork);
  let keys = keysByCommon.get(common);
  if (keys === undefined) {
    keys = new Set(getActivePrecompiles(common).keys());
    keysByCommon.set(common, keys);
  }
  return keys;
}

const keysByCommon = new WeakMap<Common, ReadonlySet<string>>();

const bls = new NobleBLS();
const bn254 = new NobleBN254();

/** The library's EVM with the costly parts of its construction shared, and our journal inside. */
class ForkEvm extends EVM {
  readonly pace: Pace;
  readonly observed: Observed;

  constructor(
    common: Common,
    state: LibraryState,
    journal: LibraryJournal,
    { block, pace, observed }: EvmParts,
  ) {
    super({
      common,
      stateManager: state,
      blockchain: hashLookup(block),
      bls,
      bn254,
      ...(common.isActivatedEIP(EIP_BLOBS) && { customPrecompiles: [POINT_EVALUATION] }),
    });
    // The same methods by design; the library asks for its class by name only.
    this.journal = journal as unknown as EVM["journal"];
    // Each construction leaves a listener behind, for a change of fork that never comes.
    common.events.removeAllListeners();
    this.pace = pace;
    this.observed = observed;
  }

  override getActiveOpcodes(): OpcodeTables["opcodes"] {
    const tables = opcodeTables(this.common);
    this._opcodes = tables.opcodes;
    this._dynamicGasHandlers = tables.dynamicGasHandlers;
    this._handlers = tables.handlers;
    this._opcodeMap = tables.opcodeMap;
    return tables.opcodes;
  }

  isPrecompile(address: Uint8Array): boolean {
    return this.getPrecompile(new LibraryAddress(address)) !== undefined;
  }

  protected override _executeCall(message: LibraryMessage & { to: LibraryAddress }): Promise<EVMResult> {
    // An account without code counts as well: there the incumbent executes the STOP that ends every code.
    if (this.getPrecompile(message.codeAddress) === undefined) this.observe(message.depth);
    if (!this.pace.isDue()) return super._executeCall(message);
    return this.pace.rest().then(() => super._executeCall(message));
  }

  protected override _executeCreate(message: LibraryMessage): Promise<EVMResult> {
    this.observe(message.depth);
    if (!this.pace.isDue()) return super._executeCreate(message);
    return this.pace.rest().then(() => super._executeCreate(message));
  }

  private observe(depth: number): void {
    if (depth > this.observed.maxDepth) this.observed.maxDepth = depth;
  }
}

const EIP_BLOBS = 4844;

type LibraryBlockchain = ConstructorParameters<typeof EVM>[0]["blockchain"];

/** Serves BLOCKHASH, which the library asks of a chain of its own kind. */
function hashLookup(block: BlockContext): NonNullable<LibraryBlockchain> {
  const lookup: NonNullable<LibraryBlockchain> = {
    async getBlock(number) {
      const hash = block.hashOf(BigInt(number)) ?? ZERO_HASH;
      return { hash: () => hash };
    },
    putBlock: () => Promise.reject(new TypeError("code does not store blocks")),
    shallowCopy: () => lookup,
  };
  return lookup;
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
