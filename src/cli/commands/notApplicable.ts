import { EXIT } from "../exitCodes.ts";
import { type Command, defineCommand } from "./command.ts";

const NO_TRIE_LOGS = "every state is kept, as in Besu's FOREST format, which has no trie logs";

/**
 * Commands of Besu that maintain things that Ibex does not have. They succeed without doing anything, so that scripts
 * continue; a command whose result is impossible fails.
 */
export const NOT_APPLICABLE: readonly Command[] = [
  nothingToDo("operator generate-log-bloom-cache", "the node maintains its bloom index itself"),
  nothingToDo("storage trie-log count", NO_TRIE_LOGS),
  nothingToDo("storage trie-log prune", NO_TRIE_LOGS),
  nothingToDo("storage trie-log export", NO_TRIE_LOGS),
  nothingToDo("storage trie-log import", NO_TRIE_LOGS),
  nothingToDo("storage rocksdb usage", "the database is LevelDB; see ibex database info"),
  nothingToDo("storage rocksdb x-stats", "the database is LevelDB; see ibex database info"),
  nothingToDo("storage revert-metadata v2-to-v1", "Besu's databases are neither read nor changed"),
  nothingToDo("storage revert-variables", "Besu's databases are neither read nor changed"),
];

function nothingToDo(words: string, why: string): Command {
  return defineCommand({
    words,
    help: `Not applicable: ${why}.`,
    ignoresOptions: true,
    run: async ({ io }) => {
      io.print(`Not applicable: ${why}.\n`);
      return EXIT.ok;
    },
  });
}
