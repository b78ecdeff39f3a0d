import { EXIT } from "../exitCodes.ts";
import { type Command, defineCommand } from "./command.ts";

const KEEPS_NO_TRIE_LOGS = "every state is kept in the form that Besu calls FOREST, which has no trie logs";

/**
 * Commands of the incumbent that tend what Ibex does not have. Scripts that call them find nothing to be done and go
 * on; who asks for a result that cannot be given is refused.
 */
export const NOT_APPLICABLE: readonly Command[] = [
  nothingToDo("operator generate-log-bloom-cache", "logs are found without a cache of blooms"),
  nothingToDo("storage trie-log count", KEEPS_NO_TRIE_LOGS),
  nothingToDo("storage trie-log prune", KEEPS_NO_TRIE_LOGS),
  nothingToDo("storage trie-log export", KEEPS_NO_TRIE_LOGS),
  nothingToDo("storage trie-log import", KEEPS_NO_TRIE_LOGS),
  nothingToDo("storage rocksdb usage", "the database is LevelDB; see ibex database info"),
  nothingToDo("storage rocksdb x-stats", "the database is LevelDB; see ibex database info"),
  nothingToDo("storage revert-metadata v2-to-v1", "a database of Besu's is neither read nor changed"),
  nothingToDo("storage revert-variables", "a database of Besu's is neither read nor changed"),
  defineCommand({
    words: "password hash",
    help: "Not applicable: this version has no authentication for JSON-RPC.",
    ignoresOptions: true,
    run: async ({ io }) => {
      io.printError("Not applicable: this version of Ibex has no authentication for JSON-RPC.\n");
      return EXIT.failed;
    },
  }),
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
