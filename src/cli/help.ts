import { HELP_GROUPS } from "../config/options/option.ts";
import { OPTION_NAMES, type OptionName, optionNamed } from "../config/options.ts";

const WIDTH = 80;
const INDENT = " ".repeat(8);

/** What --help prints: every option that is not hidden, in its group, at most 80 columns wide. */
export function helpText(): string {
  const groups = HELP_GROUPS.map((group) => ({
    group,
    names: OPTION_NAMES.filter(
      (name) => optionNamed(name).group === group && optionNamed(name).isHidden !== true,
    ),
  }));
  const sections = groups
    .filter(({ names }) => names.length > 0)
    .map(({ group, names }) => `${group}\n${names.map(describeOption).join("")}`);
  return [INTRODUCTION, ...sections, COMMANDS, ENDING].join("\n");
}

const INTRODUCTION = `Usage: ibex [OPTIONS] [COMMAND]

A full node for EVM chains that agree by IBFT 2.0 proof of authority. Without a
genesis file, a network or a configuration file it runs a development network.
`;

const COMMANDS = `Commands
  validate-config --config-file=<PATH>
        Check a configuration file, and the genesis file it names.
  database check [--data-path=<PATH>] [--config-file=<PATH>]
        Look for damage in the whole database of a stopped node. Ends with 0
        when it is sound and with 74 when it is not.
  database info [--data-path=<PATH>] [--config-file=<PATH>]
        Show schema version, newest block and size of that database.
`;

const ENDING = `An option counts from the command line, else from its environment variable
(IBEX_RPC_HTTP_PORT or BESU_RPC_HTTP_PORT for --rpc-http-port), else from the
TOML file (rpc-http-port=8545), else its default. Lists are separated by commas.
`;

function describeOption(name: OptionName): string {
  const option = optionNamed(name);
  const letter = option.letter === undefined ? "" : `-${option.letter}, `;
  const value = option.type.arity === "switch" ? "" : `=${option.type.label}`;
  const text = [option.help, defaultOf(name)].filter((part) => part !== "").join(" ");
  return `  ${letter}--${name}${value}\n${wrap(text)}`;
}

function defaultOf(name: OptionName): string {
  const option = optionNamed(name);
  if (option.defaultText !== undefined) return `Default: ${option.defaultText}.`;
  if (option.default === undefined || option.type.arity === "switch") return "";
  return `Default: ${option.type.show(option.default)}.`;
}

/** The text in indented lines, broken between words. */
function wrap(text: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && INDENT.length + line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => `${INDENT}${each}\n`).join("");
}
