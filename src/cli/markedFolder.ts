import { fail, ok, type Result } from "../primitives/result.ts";
import { MarkedFolder } from "../storage/developmentMark.ts";

/**
 * Refuses a folder of the development network whose chain was altered or made out of time: outside of it, such a chain would pass for
 * one that validators have decided. `cannot` says what is not done, and follows "The chain in … ".
 */
export function refuseMarkedFolder(
  dataPath: string,
  cannot: string,
): Result<void, "developmentFolder" | "unusableMark" | "diskFailure"> {
  const marked = MarkedFolder.read(dataPath);
  if (!marked.ok) return marked;
  if (marked.value === undefined) return ok(undefined);
  return fail(
    "caller",
    "developmentFolder",
    `The chain in ${dataPath} was made with the comforts of the development network, and no other node accepts it: ${cannot}. ` +
      "Give another folder with --data-path. To keep this one, stop its node and copy the whole folder.",
  );
}
