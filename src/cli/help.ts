import { HELP_GROUPS } from "../config/options/option.ts";
import { OPTION_NAMES, type OptionName, optionNamed } from "../config/options.ts";
import type { Command, CommandOption } from "./commands/command.ts";
import { COMMANDS, findCommand } from "./commands/commandTable.ts";

const WIDTH = 80;
const INDENT = " ".repeat(8);

/** The text of --help, at most 80 columns wide: of the program, or of the commands that begin with these words. */
export function helpText(words = ""): string {
  return words === "" ? programHelp() : commandHelp(words);
}

/** All visible options by group, and the commands. */
function programHelp(): string {
  return [INTRODUCTION, ...optionSections((name) => !isHidden(name)), commandList(), ENDING].join("\n");
}

/** The text of --Xhelp: the options that --help leaves out, with the reason if they have no effect. */
export function hiddenHelpText(): string {
  return [HIDDEN_INTRODUCTION, ...optionSections(isHidden)].join("\n");
}

function optionSections(isShown: (name: OptionName) => boolean): readonly string[] {
  return HELP_GROUPS.map((group) => ({
    group,
    names: OPTION_NAMES.filter((name) => optionNamed(name).group === group && isShown(name)),
  }))
    .filter(({ names }) => names.length > 0)
    .map(({ group, names }) => `${group}\n${names.map(describeOption).join("")}`);
}

function isHidden(name: OptionName): boolean {
  return optionNamed(name).isHidden === true;
}

const HIDDEN_INTRODUCTION = `Options that --help leaves out: rarely needed ones, and those accepted only so
that Besu configurations keep working, with the reason why they have no effect.
`;

const INTRODUCTION = `Usage: ibex [OPTIONS] [COMMAND]

A full node for EVM chains with IBFT 2.0 proof of authority. Without a genesis
file, a network or a configuration file it runs a development network.
`;

const ENDING = `Options are read from the command line, then from environment variables
(IBEX_RPC_HTTP_PORT or BESU_RPC_HTTP_PORT for --rpc-http-port), the TOML file
(rpc-http-port=8545), the profile and the defaults; the first source that has
an option wins. Lists are separated by commas.
`;

/** The commands, each with its usage and help. */
function commandList(): string {
  const lines = COMMANDS.filter(({ ignoresOptions }) => !ignoresOptions).map(
    (command) => `${usageOf(command)}${wrap(command.help)}`,
  );
  return `Commands; see "ibex <COMMAND> --help" for details\n${lines.join("")}`;
}

function commandHelp(words: string): string {
  const command = findCommand(words);
  if (command === undefined) {
    const members = COMMANDS.filter((each) => each.words.startsWith(`${words} `));
    const lines = members.map((member) => `  ${member.words}\n${wrap(member.help)}`);
    return `Usage: ibex [OPTIONS] ${words} [COMMAND]\n\nCommands\n${lines.join("")}`;
  }
  const own = Object.entries(command.options).map(([name, option]) => describeOwn(name, option));
  const ofNode = command.nodeOptions.map(describeOption);
  const sections = [
    `Usage: ibex [OPTIONS] ${command.words}${own.length > 0 ? " [COMMAND OPTIONS]" : ""}${operandsOf(command)}\n`,
    wrap(command.help, ""),
    ...(own.length > 0 ? [`Command options\n${own.join("")}`] : []),
    ...(ofNode.length > 0 ? [`Options of the node that apply here\n${ofNode.join("")}`] : []),
  ];
  return sections.join("\n");
}

/** The command's words with its required options. */
function usageOf(command: Command): string {
  const required = Object.entries(command.options).filter(([, { isRequired }]) => isRequired === true);
  const options = required.map(([name, { type }]) => ` --${name}=${type.label}`).join("");
  return `  ${command.words}${options}${operandsOf(command)}\n`;
}

function operandsOf({ operands }: Command): string {
  return operands === undefined ? "" : ` [${operands}]`;
}

function describeOwn(name: string, { type, help, default: assumed }: CommandOption): string {
  const value = type.arity === "switch" ? "" : `=${type.label}`;
  const text = !assumed || type.arity === "switch" ? help : `${help} Default: ${assumed}.`;
  return `  --${name}${value}\n${wrap(text)}`;
}

function describeOption(name: OptionName): string {
  const option = optionNamed(name);
  const letter = option.letter === undefined ? "" : `-${option.letter}, `;
  const value = option.type.arity === "switch" ? "" : `=${option.type.label}`;
  const noEffect = option.noEffect !== undefined ? `No effect: ${option.noEffect}.` : "";
  const refusal = option.refusedWhenOn !== undefined ? `Refused when true: ${option.refusedWhenOn}.` : "";
  const text = [option.help, defaultOf(name), noEffect, refusal].filter((part) => part !== "").join(" ");
  return `  ${letter}--${name}${value}\n${wrap(text)}`;
}

function defaultOf(name: OptionName): string {
  const option = optionNamed(name);
  if (option.defaultText !== undefined) return `Default: ${option.defaultText}.`;
  if (option.default === undefined || option.default === false) return "";
  const shown = option.type.show(option.default);
  return shown === "" ? "" : `Default: ${shown}.`;
}

/** Wraps the text between words into indented lines. */
function wrap(text: string, indent = INDENT): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent.length + line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = "";
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => `${indent}${each}\n`).join("");
}
