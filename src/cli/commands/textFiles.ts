import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { messageOf } from "../../primitives/errorMessage.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { EXIT } from "../exitCodes.ts";
import { type ProcessIo, refuse } from "../processIo.ts";

/** Reads a file, or standard input when there is no path. */
export function readText(path: string | undefined, io: ProcessIo): Result<string, "unreadable"> {
  try {
    return ok(readFileSync(path === undefined ? 0 : resolve(io.workingDirectory, path), "utf8"));
  } catch (error) {
    const where = path === undefined ? "Standard input" : `The file ${path}`;
    return fail("caller", "unreadable", `${where} cannot be read: ${messageOf(error)}`);
  }
}

/** Writes a command's result to a file as it is, or as a line to standard output; returns the exit code. */
export function writeAnswer(text: string, path: string | undefined, io: ProcessIo): number {
  if (path === undefined) {
    io.print(`${text}\n`);
    return EXIT.ok;
  }
  try {
    writeFileSync(resolve(io.workingDirectory, path), text);
    return EXIT.ok;
  } catch (error) {
    return refuse(`The file ${path} cannot be written: ${messageOf(error)}`, io);
  }
}
