import { OPTION_NAMES, type OptionName } from "../../config/options.ts";
import type { Command, CommandOption } from "./command.ts";

/** The words that can follow those of an incomplete command. */
export function nextWords(commands: readonly Command[], words: readonly string[]): readonly string[] {
  const continued = commandsAfter(commands, words).map((command) => command.words.split(" "));
  return [...new Set(continued.flatMap((parts) => parts[words.length] ?? []))];
}

/** Options of the node that are accepted here: after a command's words, only those that it reads. */
export function nodeOptionsAfter(
  commands: readonly Command[],
  words: readonly string[],
): readonly OptionName[] {
  if (words.length === 0) return OPTION_NAMES;
  const read = commandsAfter(commands, words).flatMap(({ nodeOptions }) => nodeOptions);
  return [...new Set<OptionName>(["help", "version", ...read])];
}

/** Options of the commands that begin with these words. */
export function ownOptionsAfter(
  commands: readonly Command[],
  words: readonly string[],
): ReadonlyMap<string, CommandOption> {
  if (words.length === 0) return new Map();
  return new Map(commandsAfter(commands, words).flatMap(({ options }) => Object.entries(options)));
}

function commandsAfter(commands: readonly Command[], words: readonly string[]): readonly Command[] {
  return commands.filter((command) => {
    const parts = command.words.split(" ");
    return words.every((word, index) => parts[index] === word);
  });
}
