import { BACKUP_COMMANDS } from "./backup.ts";
import { BLOCKS_COMMANDS } from "./blocks.ts";
import type { Command } from "./command.ts";
import { COMPARE } from "./compare.ts";
import { completionCommands } from "./completion.ts";
import { DATABASE_COMMANDS } from "./database.ts";
import { DATA_EXPORT } from "./dataExport.ts";
import { HAND_OVER_COMMANDS } from "./handOver.ts";
import { KEYSTORE_COMMANDS } from "./keystore.ts";
import { NOT_APPLICABLE } from "./notApplicable.ts";
import { OPERATOR_COMMANDS } from "./operator.ts";
import { PASSWORD_COMMANDS } from "./password.ts";
import { PUBLIC_KEY_COMMANDS } from "./publicKey.ts";
import { RLP_COMMANDS } from "./rlp.ts";
import { SNAPSHOT_COMMANDS } from "./snapshot.ts";
import { STATUS_COMMANDS } from "./status.ts";
import { VALIDATE_CONFIG } from "./validateConfig.ts";
import { VALIDATOR_COMMANDS } from "./validator.ts";

/**
 * All subcommands, read by the command line, the help and the program. A command loads its modules when it runs.
 */
export const COMMANDS: readonly Command[] = [
  VALIDATE_CONFIG,
  ...BLOCKS_COMMANDS,
  ...SNAPSHOT_COMMANDS,
  ...OPERATOR_COMMANDS,
  ...RLP_COMMANDS,
  ...PUBLIC_KEY_COMMANDS,
  ...KEYSTORE_COMMANDS,
  ...PASSWORD_COMMANDS,
  ...DATABASE_COMMANDS,
  ...VALIDATOR_COMMANDS,
  ...HAND_OVER_COMMANDS,
  ...BACKUP_COMMANDS,
  ...STATUS_COMMANDS,
  COMPARE,
  DATA_EXPORT,
  ...completionCommands(() => COMMANDS),
  ...NOT_APPLICABLE,
];

/** The command with exactly these words. */
export function findCommand(words: string): Command | undefined {
  return COMMANDS.find((command) => command.words === words);
}
