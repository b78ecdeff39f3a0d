import { EXIT, exitCodeOf } from "./exitCodes.ts";
import type { ProcessIo } from "./processIo.ts";

/** Says why a command did not do what was asked, with no pointer to the help: the words were right. */
export function fail(message: string, io: Pick<ProcessIo, "printError">, exitCode: number): number {
  io.printError(`${message}\n`);
  return exitCode;
}

/** Runs `work`; a disk that fails, damage, and a folder that a running node has are said in one line. */
export async function inDiskTerms(io: ProcessIo, work: () => Promise<number>): Promise<number> {
  const { DamagedData, DiskError } = await import("../storage/database.ts");
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DiskError || error instanceof DamagedData)) throw error;
    return fail(error.message, io, exitCodeOf(error));
  }
}

/** The exit code of a chain that could not be opened, and why, in terms of the settings. */
export function failToOpen(
  { code, message }: { readonly code: string; readonly message: string },
  settings: { readonly genesisFile: string; readonly dataPath: string },
  io: ProcessIo,
): number {
  const sentence =
    code === "differentGenesis"
      ? `The genesis file ${settings.genesisFile} does not match the chain stored in ${settings.dataPath}: ${message}.`
      : message;
  return fail(sentence, io, code === "diskFailure" ? EXIT.disk : EXIT.badInput);
}
