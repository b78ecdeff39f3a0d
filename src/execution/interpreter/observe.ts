import { FIELD, FIELDS_BYTES, STATUS } from "../../evm/layout.ts";
import { CALL_KINDS, type Callee, type CalleeEnd, type ExecutionObserver } from "../observer.ts";
import { priceOfFailure } from "../precompiles/priceOfFailure.ts";
import { SELFDESTRUCT } from "../selfdestructTransfer.ts";
import { perform, performWork, resolve } from "./driver.ts";
import { finish, halt } from "./ends.ts";
import type { Frame } from "./frame.ts";
import { MachineFrameView } from "./frameView.ts";
import { haltReasonOfStatus, type Run } from "./run.ts";
import { destroy } from "./selfdestruct.ts";
import { OpenStep } from "./step.ts";
import type { FrameEnd, Watch } from "./watch.ts";

/** Runs messages one instruction at a time, on the core that returns after each, and reports to an observer. */
export class Observation implements Watch {
  private readonly observer: ExecutionObserver;
  /** Set right after the run is created, which takes the observation. */
  run!: Run;
  private readonly views = new WeakMap<Frame, MachineFrameView>();
  /** The view of the frame that ran last. */
  private lastView: MachineFrameView | undefined;
  private readonly callees = new WeakMap<Frame, Callee>();
  /** Instructions in progress, one for each frame at most, the outermost first. */
  private readonly steps: OpenStep[] = [];
  private stepsToCheck = 0;

  constructor(observer: ExecutionObserver) {
    this.observer = observer;
  }

  /** Like `proceed` of driver.ts, one instruction at a time. */
  proceed(): Promise<unknown> | undefined {
    const { run } = this;
    const { yieldPolicy } = run;
    for (;;) {
      const resting = performWork(run);
      if (resting !== undefined) return resting;
      const { frame } = run;
      if (frame === undefined) return undefined;
      this.advance(frame);
      if (--this.stepsToCheck < 0) {
        this.stepsToCheck = STEPS_PER_CHECK;
        if (yieldPolicy.isDue()) return yieldPolicy.yield();
      }
    }
  }

  paid(frame: Frame, callee: number, stipend: number): void {
    const step = this.steps.at(-1);
    if (step?.frame === frame) step.pay(callee, stipend);
  }

  entered(frame: Frame): void {
    const { machine, budget } = this.run;
    const { caller, at, input, inputSize } = frame;
    const step = caller === undefined ? undefined : this.steps.at(-1);
    step?.perform(this.observer);
    budget?.take(inputSize);
    const callee: Callee = {
      kind: (step && CALL_KINDS.get(step.instruction)) ?? (frame.kind === "create" ? "create" : "call"),
      depth: frame.depth,
      from: caller?.address ?? frame.sender,
      to: frame.codeAddress,
      value: machine.readWord(at + FIELD.VALUE),
      input: machine.bytes.slice(input, input + inputSize),
      gas: machine.gas(at),
      precompile: frame.kind === "create" ? undefined : this.run.precompileNumber(frame.codeAddress),
    };
    this.callees.set(frame, callee);
    this.observer.entered(callee);
  }

  ranNothing(frame: Frame): void {
    const { machine } = this.run;
    const { at } = frame;
    const bottom = at + FIELDS_BYTES;
    for (const field of [FIELD.TOP, FIELD.STACK, FIELD.MEMORY]) machine.setField(at, field, bottom);
    for (const field of [FIELD.MEMORY_SIZE, FIELD.RETURNED_SIZE]) machine.setField(at, field, 0);
    this.stop(frame, 0);
  }

  destroyed(): void {
    // Its instruction is reported.
  }

  left(frame: Frame, { output, hasReverted, halt: reason, gasLeft }: FrameEnd): void {
    const { budget, rules } = this.run;
    const callee = this.callees.get(frame);
    if (callee === undefined) return;
    budget?.release(callee.input.length);
    const { precompile, input } = callee;
    const end: CalleeEnd = {
      callee,
      gasUsed: callee.gas - gasLeft,
      output: output(),
      hasReverted,
      halt: reason,
      ...(precompile !== undefined &&
        reason !== undefined && { price: priceOfFailure(precompile, input.length, rules.fork) }),
    };
    this.observer.left(end);
  }

  /** Performs the next instruction of a frame, or continues the one in progress. */
  private advance(frame: Frame): void {
    const open = this.steps.at(-1);
    if (open?.frame !== frame) {
      this.begin(frame);
      return;
    }
    if (open.isDone) {
      this.steps.pop();
      open.complete(this.observer);
      return;
    }
    this.perform(open);
  }

  private begin(frame: Frame): void {
    const { machine } = this.run;
    const view = this.viewOf(frame);
    const at = machine.field(frame.at, FIELD.NEXT) - machine.field(frame.at, FIELD.CODE);
    const isVirtual = at >= machine.field(frame.at, FIELD.CODE_SIZE);
    const instruction = isVirtual ? STOP : (view.code[at] as number);
    const step = new OpenStep(this.run, frame, view, { at, instruction, isVirtual });
    this.steps.push(step);
    this.observer.begun(step);
    this.perform(step);
  }

  private perform(step: OpenStep): void {
    const { run } = this;
    const { frame } = step;
    const status = run.machine.core.run(frame.at, MUCH_WORK);
    if (status === STATUS.STEPPED || status === STATUS.REST) step.isDone = true;
    else if (PERFORMED_AGAIN.has(status)) resolve(run, frame, status);
    else if (status === STATUS.LONG) {
      step.isDone = true;
      resolve(run, frame, status);
    } else if (status === STATUS.LEAVE) this.leave(step);
    else if (status === STATUS.STOPPED || status === STATUS.ENDED || status === STATUS.REVERTED) {
      if (status !== STATUS.STOPPED) step.state.showOutput();
      this.close(step);
      resolve(run, frame, status);
    } else this.fail(step, haltReasonOfStatus(status));
  }

  private leave(step: OpenStep): void {
    const { run } = this;
    const { frame, instruction } = step;
    run.yieldPolicy.deadline?.check();
    if (instruction === SELFDESTRUCT) {
      const reason = destroy(run, frame);
      if (reason !== undefined) this.fail(step, reason);
      else {
        this.close(step);
        finish(run, frame, "succeeded");
      }
      return;
    }
    step.isDone = true;
    const reason = perform(run, frame, instruction);
    if (reason !== undefined) this.fail(step, reason);
  }

  private fail(step: OpenStep, reason: ReturnType<typeof haltReasonOfStatus>): void {
    step.fail(reason);
    this.close(step);
    halt(this.run, step.frame, reason);
  }

  /** Reports the last instruction of a frame. */
  private close(step: OpenStep): void {
    this.steps.pop();
    step.perform(this.observer);
  }

  /** Reports the implicit STOP beyond the end of code. */
  private stop(frame: Frame, at: number): void {
    const step = new OpenStep(this.run, frame, this.viewOf(frame), {
      at,
      instruction: STOP,
      isVirtual: true,
    });
    this.observer.begun(step);
    step.perform(this.observer);
  }

  private viewOf(frame: Frame): MachineFrameView {
    if (this.lastView?.frame === frame) return this.lastView;
    let view = this.views.get(frame);
    if (view === undefined) {
      view = new MachineFrameView(this.run, frame);
      this.views.set(frame, view);
    }
    this.lastView = view;
    return view;
  }
}

const STOP = 0x00;
/** Statuses that the driver resolves before the instruction is performed again, unless it gives up. */
const PERFORMED_AGAIN: ReadonlySet<number> = new Set([
  STATUS.GROW,
  STATUS.FIND_TARGETS,
  STATUS.PREPARE,
  STATUS.BEYOND,
]);
const MUCH_WORK = 2 ** 30;
const STEPS_PER_CHECK = 32;
