import { statfs } from "node:fs/promises";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { RESERVE_BYTES } from "./limits.ts";

/** Refuses work that needs more bytes on the folder's disk than are free, including those that must stay free. */
export async function refuseLittleRoom(
  folder: string,
  neededBytes: number,
): Promise<Result<void, "tooLittleRoom">> {
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= neededBytes) return ok(undefined);
  const megabytes = (bytes: number): number => Math.ceil(bytes / 1024 ** 2);
  return fail(
    "caller",
    "tooLittleRoom",
    `There is too little room in ${folder}: ${megabytes(bavail * bsize)} MB are free, and ${megabytes(neededBytes)} MB are needed ` +
      `(${megabytes(RESERVE_BYTES)} of them stay free).`,
  );
}
