import { existsSync } from "node:fs";
import { readNamedBytes } from "../primitives/boundedFile.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { err, ok, type Result } from "../primitives/result.ts";

/** Reading holds the main thread, which may have blocks to make. */
const MOST_BYTES = 1024 * 1024;

/** The bytes of a file that is named by an option; the error's message is a clause without the path. */
export function readSmallBytes(path: string): Result<Buffer, "absent" | "unreadable"> {
  try {
    if (!existsSync(path)) return refuse("absent", "does not exist");
    return ok(readNamedBytes(path, MOST_BYTES));
  } catch (error) {
    return refuse("unreadable", messageOf(error));
  }
}

/** As readSmallBytes, for a text. */
export function readSmallFile(path: string): Result<string, "absent" | "unreadable"> {
  const bytes = readSmallBytes(path);
  return bytes.ok ? ok(bytes.value.toString("utf8")) : bytes;
}

function refuse<Code extends "absent" | "unreadable">(code: Code, message: string): Result<never, Code> {
  return err({ code, fault: "caller", message });
}
