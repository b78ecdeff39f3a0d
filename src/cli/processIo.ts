import type { Environment } from "../config/environment.ts";
import { EXIT } from "./exitCodes.ts";
import type { StopRequest } from "./stopRequest.ts";

/** What the program has of the process it runs in. */
export interface ProcessIo {
  readonly environment: Environment;
  readonly workingDirectory: string;
  readonly processId: number;
  /** True when standard output is read by a person. */
  readonly isTerminal: boolean;
  print(text: string): void;
  printError(text: string): void;
  /** Begins to listen for requests to stop. */
  awaitStop(): StopRequest;
  /** Begins to listen for exceptions that nobody catches; resolves with the first. */
  awaitFault(): Promise<unknown>;
}

/** The incumbent's form: what is wrong, an empty line, where to find help. */
export function refuse(problems: string, io: Pick<ProcessIo, "printError">): number {
  io.printError(`${problems}\n\nTo display full help:\nibex [COMMAND] --help\n`);
  return EXIT.badInput;
}
