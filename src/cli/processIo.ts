import type { Environment } from "../config/environment.ts";
import { EXIT } from "./exitCodes.ts";
import type { OnHangUp, StopRequest } from "./stopRequest.ts";

/** The program's access to its process, replaceable in tests. */
export interface ProcessIo {
  readonly environment: Environment;
  readonly workingDirectory: string;
  readonly processId: number;
  /** True when standard output is a terminal. */
  readonly isTerminal: boolean;
  print(text: string): void;
  printError(text: string): void;
  /** Begins to listen for requests to stop. Without `onHangUp`, SIGHUP is one. */
  awaitStop(onHangUp?: OnHangUp): StopRequest;
  /** Begins to listen for uncaught exceptions; resolves with the first. */
  awaitFault(): Promise<unknown>;
  /** Gives the process the lowest priority, for work beside a running node. */
  giveWay(): void;
}

/** Prints the problems in Besu's form: the problems, an empty line, a pointer to the help. */
export function refuse(problems: string, io: Pick<ProcessIo, "printError">): number {
  io.printError(`${problems}\n\nTo display full help:\nibex [COMMAND] --help\n`);
  return EXIT.badInput;
}
