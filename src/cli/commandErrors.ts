import { EXIT, exitCodeOf } from "./exitCodes.ts";
import type { ProcessIo } from "./processIo.ts";

/** Prints why a command failed, without pointing to the help, because the command line was valid. */
export function reportFailure(message: string, io: Pick<ProcessIo, "printError">, exitCode: number): number {
  io.printError(`${message}\n`);
  return exitCode;
}

/** Runs `work`; a failing disk, a damaged database, or a folder in use by a running node cause a one-line error. */
export async function reportDiskErrors(io: ProcessIo, work: () => Promise<number>): Promise<number> {
  const { DamagedData, DiskError } = await import("../storage/database.ts");
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DiskError || error instanceof DamagedData)) throw error;
    return reportFailure(error.message, io, exitCodeOf(error));
  }
}

/** Prints why the chain could not be opened, in terms of the settings, and returns the exit code. */
export function reportOpenError(
  { code, message }: { readonly code: string; readonly message: string },
  settings: { readonly genesisFile: string; readonly dataPath: string },
  io: ProcessIo,
): number {
  const sentence =
    code === "differentGenesis"
      ? `The genesis file ${settings.genesisFile} does not match the chain stored in ${settings.dataPath}: ${message}.`
      : message;
  return reportFailure(sentence, io, code === "diskFailure" ? EXIT.disk : EXIT.badInput);
}
