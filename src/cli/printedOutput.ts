import type { LogFields } from "../observability/logger.ts";
import { durationOf, type ProgressOutput, rateText } from "../observability/progress.ts";
import { TerminalBar } from "../observability/terminalBar.ts";
import type { ProcessIo } from "./processIo.ts";

/** The output of a command that prints its results instead of logging: text, and at a terminal the bars of its work below it. */
export class PrintedOutput implements ProgressOutput {
  readonly bar: TerminalBar | undefined;
  private readonly io: Pick<ProcessIo, "print">;

  constructor(io: Pick<ProcessIo, "print" | "isTerminal" | "environment">) {
    this.io = io;
    // A terminal that only prints cannot draw a line again.
    const canDraw = io.isTerminal && !["", "dumb"].includes(io.environment["TERM"] ?? "");
    this.bar = canDraw ? new TerminalBar(io.print) : undefined;
  }

  readonly print = (text: string): void => {
    if (this.bar === undefined) this.io.print(text);
    else this.bar.above(() => this.io.print(text));
  };

  readonly printLine = (line: string): void => this.print(`${line}\n`);

  isEnabled(): boolean {
    return true;
  }

  /** Prints a line of progress: "importing: 25 %, 50 blocks/s, about 15 s left", and then the field `summary` if there is one. */
  info(fields: LogFields, message: string): void {
    const { percent, secondsLeft, summary } = fields;
    const rates = Object.entries(fields).flatMap(([name, value]) => {
      const [, counted] = /^(\w+)PerSecond$/.exec(name) ?? [];
      return counted === undefined || typeof value !== "number" ? [] : [rateText(counted, value)];
    });
    const facts = [
      ...(typeof percent === "number" ? [`${Math.floor(percent)} %`] : []),
      ...rates,
      ...(typeof secondsLeft === "number" ? [`about ${durationOf(secondsLeft)} left`] : []),
    ];
    const rest = typeof summary === "string" ? `: ${summary}` : "";
    this.printLine(`${message === "" ? "  " : `${message}: `}${facts.join(", ")}${rest}`);
  }
}
