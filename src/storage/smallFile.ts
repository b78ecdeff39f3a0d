import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** Something else than a small file is where one is expected. Its message follows the file's name. */
export class NoSmallFile extends Error {
  override name = "NoSmallFile";
}

/**
 * The text of a regular file of at most so many bytes. Never waits, as reading a pipe would, which no signal ends. Throws
 * NoSmallFile, and errors of the system.
 */
export function readSmallFile(path: string, mostBytes: number): string {
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const status = fstatSync(file);
    if (!status.isFile()) throw new NoSmallFile("it is not a regular file");
    if (status.size > mostBytes) throw new NoSmallFile(`it is larger than ${mostBytes} bytes`);
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}
