import type { EVMError, EVMResult, Message } from "@ethereumjs/evm";
import type { Address as LibraryAddress } from "@ethereumjs/util";
import { asAddress } from "../../primitives/address.ts";
import { expectDefined } from "../../primitives/assert.ts";
import { EMPTY_BYTES } from "../../primitives/hex.ts";
import type { EvmParts } from "../evm.ts";
import { haltReasonOf } from "../haltReason.ts";
import {
  CALL_KINDS,
  type Callee,
  type CalleeEnd,
  type CallKind,
  type ExecutionObserver,
} from "../observer.ts";
import { priceOfFailure } from "../precompiles/priceOfFailure.ts";
import { ForkEvm } from "./forkEvm.ts";
import { Frame, type FrameState } from "./frame.ts";
import type { InstructionSet } from "./loop.ts";
import { type OpenStep, reportStop, runObserved } from "./observedLoop.ts";

/** The EVM with an observer: runs the same code one instruction at a time, and reports each. */
export class ObservedEvm extends ForkEvm {
  private readonly observer: ExecutionObserver;
  /** The instructions with a callee in progress, the outermost first. */
  private readonly calls: OpenStep[] = [];

  constructor(parts: EvmParts, observer: ExecutionObserver) {
    super(parts);
    this.observer = observer;
  }

  protected override performCode(
    state: FrameState,
    instructions: InstructionSet,
  ): Promise<EVMError | undefined> {
    return runObserved(state, instructions, { observer: this.observer, calls: this.calls });
  }

  protected override async _executeCall(message: Message & { to: LibraryAddress }): Promise<EVMResult> {
    const precompile = this.precompileNumber(message.codeAddress.bytes);
    const callee = this.enter(message, message.codeAddress, precompile);
    const result = await super._executeCall(message);
    const { code } = message;
    const ranNoCode = code === undefined || (typeof code !== "function" && code.length === 0);
    if (ranNoCode && precompile === undefined && result.execResult.exceptionError === undefined)
      this.reportImplicitStop(message);
    this.leave(callee, result);
    return result;
  }

  protected override async _executeCreate(message: Message): Promise<EVMResult> {
    message.code = message.data;
    const callee = this.enter(message, await this._generateAddress(message));
    const result = await super._executeCreate(message);
    if (callee.input.length === 0 && result.execResult.exceptionError === undefined)
      this.reportImplicitStop(message);
    this.leave(callee, result);
    return result;
  }

  private enter(message: Message, to: LibraryAddress, precompile?: number): Callee {
    const call = this.calls.at(-1);
    if (call !== undefined) call.perform(this.observer);
    this.memoryBudget?.take(message.data.length);
    const callee: Callee = {
      kind:
        call === undefined
          ? outermostKind(message)
          : expectDefined(CALL_KINDS.get(call.instruction), "a call"),
      depth: message.depth,
      from: asAddress((call?.state.env.address ?? message.caller).bytes),
      to: asAddress(to.bytes),
      value: message.value,
      // Call data may be a view of the caller's memory, which changes once the call is over.
      input: Uint8Array.prototype.slice.call(message.data),
      gas: message.gasLimit,
      precompile,
    };
    this.observer.entered(callee);
    return callee;
  }

  private leave(callee: Callee, { execResult }: EVMResult): void {
    this.memoryBudget?.release(callee.input.length);
    const error = execResult.exceptionError?.error;
    const isFailure = error !== undefined && error !== CODE_UNPAID;
    const hasReverted = error === REVERTED && callee.precompile === undefined;
    const end: CalleeEnd = {
      callee,
      gasUsed: execResult.executionGasUsed,
      output: execResult.returnValue,
      hasReverted,
      halt: isFailure && !hasReverted ? haltReasonOf(error) : undefined,
      ...(callee.precompile !== undefined &&
        isFailure && { price: priceOfFailure(callee.precompile, callee.input.length, this.common) }),
    };
    this.observer.left(end);
  }

  /** Reports the implicit STOP, which Besu executes even where there is no code. */
  private reportImplicitStop(message: Message): void {
    const frame = new Frame(this, { ...this.environmentOf(message), code: EMPTY_BYTES }, message.gasLimit);
    reportStop(frame._runState, this.observer);
  }
}

/** In Frontier a creation that cannot pay for storing its code succeeds without code. */
const CODE_UNPAID = "code store out of gas";
const REVERTED = "revert";

function outermostKind({ to }: Message): CallKind {
  return to === undefined ? "create" : "call";
}
