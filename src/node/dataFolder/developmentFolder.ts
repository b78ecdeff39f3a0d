import { DEV_VALIDATOR_ADDRESS } from "../../config/devNetwork.ts";
import type { Settings } from "../../config/settings.ts";
import { equalBytes, toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { MarkedFolder } from "../../storage/developmentMark.ts";
import type { NodeKey } from "../keys/nodeKey.ts";

/** A data folder in which the comforts of the development network may be used, and its mark if they were. */
export interface DevelopmentFolder {
  readonly marked: MarkedFolder | undefined;
}

/**
 * The folder as the development network has it; undefined in any other network, and with another key than the built-in one. A marked
 * folder is refused there: its chain is no validator's work.
 */
export function openDevelopmentFolder(
  { development, dataPath }: Settings,
  key: NodeKey,
): Result<DevelopmentFolder | undefined, "developmentFolder" | "unusableMark" | "diskFailure"> {
  const read = MarkedFolder.read(dataPath);
  if (!read.ok) return read;
  const marked = read.value;
  const hasBuiltInKey = equalBytes(key.address, DEV_VALIDATOR_ADDRESS);
  if (development !== undefined && hasBuiltInKey && isOf(marked, key)) return ok({ marked });
  if (marked === undefined) return ok(undefined);
  const why =
    development === undefined
      ? "this is not that network as npm start runs it: with its own genesis file and key, and without peers"
      : "the key in it is not that network's";
  return fail(
    "local",
    "developmentFolder",
    `The chain in ${dataPath} was made with the comforts of the development network: blocks of any time, and states that no ` +
      `transaction made. No other network can go on with it, and ${why}. Give another folder with --data-path.`,
  );
}

function isOf(marked: MarkedFolder | undefined, { address }: NodeKey): boolean {
  return marked === undefined || marked.state.validator === toHex(address);
}
