import { existsSync } from "node:fs";
import { readNamedBytes } from "../primitives/boundedFile.ts";
import { messageOf } from "../primitives/errorMessage.ts";
import { fail, ok, type Result } from "../primitives/result.ts";

/** Reading holds the main thread, which may have blocks to make. */
const MOST_BYTES = 1024 * 1024;

/** The bytes of a file that is named by an option; the error's message is a clause without the path. */
export function readSmallBytes(path: string): Result<Buffer, "absent" | "unreadable"> {
  try {
    if (!existsSync(path)) return fail("caller", "absent", "does not exist");
    return ok(readNamedBytes(path, MOST_BYTES));
  } catch (error) {
    return fail("caller", "unreadable", messageOf(error));
  }
}

/** Like `readSmallBytes`, but decodes the bytes as UTF-8. */
export function readSmallFile(path: string): Result<string, "absent" | "unreadable"> {
  const bytes = readSmallBytes(path);
  return bytes.ok ? ok(bytes.value.toString("utf8")) : bytes;
}
