import {
  EVMError,
  type EVMResult,
  type ExecResult,
  type Message,
  type PrecompileFunc,
} from "@ethereumjs/evm";
import type { Address as LibraryAddress } from "@ethereumjs/util";
import { asAddress } from "../../primitives/address.ts";
import { expectDefined } from "../../primitives/assert.ts";
import { bytesOfKey, toKey } from "../../primitives/byteKey.ts";
import { EMPTY_CODE_HASH, type Hash } from "../../primitives/hash.ts";
import { EMPTY_BYTES, toDigits } from "../../primitives/hex.ts";
import type { Overlay } from "../../state/overlay.ts";
import type { AccessJournal } from "../accessJournal.ts";
import { delegationTarget } from "../delegation.ts";
import type { EvmParts, Observed } from "../evm.ts";
import { libraryCommon } from "../libraryCommon.ts";
import { LibraryJournal } from "../libraryJournal.ts";
import { opcodeTables } from "../libraryOpcodes.ts";
import { LibraryState } from "../libraryState.ts";
import type { MemoryBudget } from "../memoryBudget.ts";
import { hasLowNumber } from "../precompiles/addresses.ts";
import type { PrecompileOverrides } from "../precompiles/precompileOverrides.ts";
import { ownPrecompiles } from "../precompiles/precompiles.ts";
import type { Rules } from "../rules.ts";
import { type YieldPolicy, yieldIfDue } from "../yieldPolicy.ts";
import { libraryAccount } from "./callAndCreate.ts";
import { ContractAddresses } from "./contractAddresses.ts";
import { Frame, type FrameState } from "./frame.ts";
import type { FrameEnvironment, FrameEvm } from "./frameEnvironment.ts";
import { hashLookup } from "./hashLookup.ts";
import { sharedEvm } from "./libraryInternals.ts";
import { type InstructionSet, instructionsOf, runFrame } from "./loop.ts";
import { LONG_BYTES } from "./slices.ts";
import { Substate } from "./substate.ts";
import { TransientSlots } from "./transientSlots.ts";
import { transferValue } from "./valueTransfer.ts";

const SharedEvm = sharedEvm({ opcodes: opcodeTables, precompiles: ownPrecompiles });

/**
 * The library's EVM under one fork, for one job. The library's are: messages with their checkpoints, creations, rare
 * instructions and precompiled contracts. Ours are: the state and the journal below, calls, frames, the loop and the
 * frequent instructions.
 */
export class ForkEvm extends SharedEvm implements FrameEvm {
  readonly overlay: Overlay;
  readonly accesses: AccessJournal;
  readonly yieldPolicy: YieldPolicy;
  readonly observed: Observed;
  readonly stackLimit: number;
  readonly memoryBudget: MemoryBudget | undefined;
  readonly isObserved: boolean;
  private readonly rules: Rules;
  private readonly precompileOverrides: PrecompileOverrides | undefined;
  private readonly ownJournal: LibraryJournal;
  private readonly instructions: InstructionSet;
  private keptBytes = 0;
  private ownSubstate = new Substate();
  private readonly addresses: ContractAddresses;

  constructor({
    config,
    rules,
    block,
    overlay,
    accesses,
    yieldPolicy,
    observed,
    precompiles,
    observer,
  }: EvmParts) {
    const common = libraryCommon(config, rules.fork);
    const state = new LibraryState(overlay);
    const journal = new LibraryJournal(accesses, overlay, state);
    super({
      common,
      stateManager: state,
      blockchain: hashLookup(block),
      journal,
      transientStorage: new TransientSlots(yieldPolicy.memory),
    });
    this.ownJournal = journal;
    this.overlay = overlay;
    this.accesses = accesses;
    this.yieldPolicy = yieldPolicy;
    this.observed = observed;
    this.stackLimit = config.stackLimit;
    this.memoryBudget = yieldPolicy.memory;
    this.isObserved = observer !== undefined;
    this.rules = rules;
    this.precompileOverrides = precompiles;
    this.addresses = new ContractAddresses(overlay, yieldPolicy);
    this.instructions = instructionsOf(opcodeTables(common), rules);
  }

  /** Called before each top-level message; returns the collections for the library to fill. */
  begin(): Pick<Message, "selfdestruct" | "createdAddresses"> {
    this.ownSubstate = new Substate();
    return { selfdestruct: this.ownSubstate.destroyed, createdAddresses: this.ownSubstate.created };
  }

  get substate(): Substate {
    return this.ownSubstate;
  }

  /** Reverts all open checkpoints, after a run was stopped in the middle. */
  unwind(): void {
    this.ownJournal.unwind();
  }

  keep(bytes: number): void {
    this.memoryBudget?.take(bytes);
    this.keptBytes += bytes;
  }

  /**
   * Releases what was kept beyond `keptBytes`: that of a failed frame, or everything at the end of a top-level message,
   * whose result owns it from then on.
   */
  release(keptBytes = 0): void {
    this.memoryBudget?.release(this.keptBytes - keptBytes);
    this.keptBytes = keptBytes;
  }

  isPrecompile(address: Uint8Array): boolean {
    return this.precompileNumber(address) !== undefined;
  }

  override getPrecompile({ bytes }: LibraryAddress): PrecompileFunc | undefined {
    const digits = this.precompileDigits(bytes);
    return digits === undefined ? undefined : this.precompiles.get(digits);
  }

  /** Number of the precompiled contract at an address. */
  precompileNumber(address: Uint8Array): number | undefined {
    const digits = this.precompileDigits(address);
    return digits !== undefined && this.precompiles.has(digits) ? Number.parseInt(digits, 16) : undefined;
  }

  /** The library's key of the precompiled contract at `address`, if there may be one. */
  private precompileDigits(address: Uint8Array): string | undefined {
    if (this.precompileOverrides === undefined) return hasLowNumber(address) ? toDigits(address) : undefined;
    const key = this.precompileOverrides.get(toKey(address));
    return key === undefined ? undefined : toDigits(bytesOfKey(key));
  }

  isKnown(instruction: number): boolean {
    return this.instructions.library[instruction]?.opcodeInfo.isInvalid === false;
  }

  protected override async _executeCall(message: Message & { to: LibraryAddress }): Promise<EVMResult> {
    if (this.yieldPolicy.isDue()) await this.yieldPolicy.yield();
    const failure = message.delegatecall ? undefined : transferValue(this, this.rules, message);
    this.loadCode(message);
    const { code, gasRefund, depth } = message;
    const isPrecompile = typeof code === "function";
    if (isPrecompile) this.abortIfUnpredictable(message);
    // Counts an account without code too: Besu executes the implicit STOP there.
    if (!isPrecompile) this.observe(depth);
    if (failure !== undefined || code === undefined || (!isPrecompile && code.length === 0))
      return { execResult: emptyResult(gasRefund, failure) };
    const execResult = isPrecompile
      ? { ...(await this.runPrecompile(code as PrecompileFunc, message.data, message.gasLimit)), gasRefund }
      : await this.runInterpreter(message);
    if (depth === 0) this.transientStorage.clear();
    return { execResult };
  }

  protected override async _executeCreate(message: Message): Promise<EVMResult> {
    if (this.yieldPolicy.isDue()) await this.yieldPolicy.yield();
    // Init code of any length is hashed and analysed, which takes an unpredictable time.
    this.yieldPolicy.deadline?.abort();
    this.observe(message.depth);
    return super._executeCreate(message);
  }

  protected override _generateAddress(message: Message): Promise<LibraryAddress> {
    return this.addresses.of(message);
  }

  protected override async runInterpreter(message: Message): Promise<ExecResult> {
    const initCodeBytes = message.isCreate === true ? (message.code?.length ?? 0) * INIT_CODE_FACTOR : 0;
    this.memoryBudget?.take(initCodeBytes);
    const keptBytesBefore = this.keptBytes;
    const frame = new Frame(this, this.environmentOf(message), message.gasLimit);
    const { _result: result, _runState: state } = frame;
    const { code } = frame._env;
    if (code.length > LONG_BYTES) await state.analysis.prepare(code, () => yieldIfDue(this.yieldPolicy));
    const error = await this.performCode(state, this.instructions);
    const releasing = state.releaseMemory();
    if (releasing !== undefined) await releasing;
    this.memoryBudget?.release(initCodeBytes);
    if (error !== undefined) this.release(keptBytesBefore);
    const keepsGas = error === undefined || error.error === EVMError.errorMessages.REVERT;
    return {
      // All that the top-level message collected so far. The receiver of an error ignores it.
      logs: result.logs,
      selfdestruct: result.selfdestruct,
      createdAddresses: result.createdAddresses,
      returnValue: result.returnValue ?? EMPTY_BYTES,
      ...(error !== undefined && { exceptionError: error }),
      gas: state.gasLeft,
      executionGasUsed: keepsGas ? message.gasLimit - state.gasLeft : message.gasLimit,
      gasRefund: state.gasRefund,
    };
  }

  /** Runs a frame to its end; returns the error that halted it, if any. */
  protected performCode(state: FrameState, instructions: InstructionSet): Promise<EVMError | undefined> {
    return runFrame(state, instructions);
  }

  /** Loads the code into a message if it has none; follows a delegation. */
  private loadCode(message: LoadedMessage): void {
    if (message.code !== undefined) return;
    const precompile = this.getPrecompile(message.codeAddress);
    if (precompile !== undefined) {
      message.code = precompile;
      return;
    }
    message.codeHash = this.codeHashOf(message.codeAddress.bytes);
    message.code = this.overlay.code(message.codeHash);
    const delegate = this.rules.hasDelegation ? delegationTarget(message.code) : undefined;
    if (delegate === undefined) return;
    message.codeHash = this.codeHashOf(delegate);
    message.code = this.overlay.code(message.codeHash);
    if (message.depth === 0) this.accesses.warm(delegate);
  }

  private codeHashOf(address: Uint8Array): Hash {
    return this.overlay.account(asAddress(address))?.codeHash ?? EMPTY_CODE_HASH;
  }

  protected environmentOf(message: Message): FrameEnvironment {
    const { gasPrice, origin } = expectDefined(this._tx, "the transaction that runs");
    const address = expectDefined(message.to, "the account whose code runs");
    return {
      address,
      caller: message.caller,
      callData: message.data,
      callValue: message.value,
      code: message.code as Uint8Array,
      codeHash: (message as LoadedMessage).codeHash,
      isStatic: message.isStatic,
      isCreate: message.isCreate ?? false,
      depth: message.depth,
      gasPrice,
      origin,
      block: this._block,
      contract: libraryAccount(this.overlay, address.bytes),
      codeAddress: message._codeAddress ?? address,
      gasRefund: message.gasRefund,
      blobVersionedHashes: message.blobVersionedHashes ?? [],
      createdAddresses: message.createdAddresses,
    };
  }

  /**
   * Aborts inline execution before a slow precompiled contract: gas is priced for native code, and some have to be
   * loaded first.
   */
  private abortIfUnpredictable({ codeAddress, data }: Message): void {
    const { deadline } = this.yieldPolicy;
    if (deadline === undefined) return;
    const isSimple = (this.precompileNumber(codeAddress.bytes) ?? 0) <= LAST_SIMPLE_PRECOMPILE;
    if (!isSimple || data.length > INLINE_INPUT_BYTES) deadline.abort();
  }

  private observe(depth: number): void {
    if (depth > this.observed.maxDepth) this.observed.maxDepth = depth;
  }
}

/** A message whose code was loaded from the state. */
type LoadedMessage = Message & { codeHash?: Hash };

/** Memory of init code and its analysis (analysis.ts), per byte of code. */
const INIT_CODE_FACTOR = 2;
/** ECRECOVER, SHA256, RIPEMD160 and identity. */
const LAST_SIMPLE_PRECOMPILE = 4;
const INLINE_INPUT_BYTES = 4096;

function emptyResult(gasRefund: bigint, failure: EVMError | undefined): ExecResult {
  return {
    gasRefund,
    executionGasUsed: 0n,
    returnValue: EMPTY_BYTES,
    ...(failure !== undefined && { exceptionError: failure }),
  };
}
