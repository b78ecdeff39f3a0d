import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/commands/commandTable.ts";
import { OPTION_NAMES, optionNamed, spellingsOf } from "../../src/config/options.ts";
import { isInstalled, saySkipped } from "../delivery/installed.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { ibexHere } from "./program.ts";

/** What `ibex completion bash` prints, as bash itself completes with it. */

const hasBash = isInstalled("bash");
const hasZsh = isInstalled("zsh");
const hasTerminal = isInstalled("script");
if (!hasBash) saySkipped("completion in bash", "bash", "bash");
if (!hasZsh) saySkipped("completion in zsh", "zsh", "zsh");
if (!hasTerminal) saySkipped("completion at a terminal", "script", "bsdutils");

const OFFERED = COMMANDS.filter(({ ignoresOptions }) => !ignoresOptions);

describe.runIf(hasBash)("bash", () => {
  it("completes each command word by word", async () => {
    const lines = OFFERED.flatMap(({ words }) =>
      words.split(" ").map((word, index, all) => [...all.slice(0, index), word.slice(0, 2)]),
    );
    const completions = await completedByBash(lines);
    for (const [index, line] of lines.entries()) {
      const before = line.slice(0, -1);
      const expected = OFFERED.map(({ words }) => words.split(" "))
        .filter((parts) => before.every((word, at) => parts[at] === word))
        .flatMap((parts) => parts[before.length] ?? [])
        .filter((word) => word.startsWith(line.at(-1) ?? ""));
      expect([line, completions[index]]).toEqual([line, [...new Set(expected)]]);
    }
  });

  it("offers after a command its own options and those of the node that it reads, and no other", async () => {
    const completions = await completedByBash(OFFERED.map(({ words }) => [...words.split(" "), "--"]));
    for (const [index, { words, options, nodeOptions }] of OFFERED.entries()) {
      const own = Object.entries(options).map(([name, { type }]) => asTyped(name, type.arity));
      const ofNode = (["help", "version", ...nodeOptions] as const).map((name) =>
        asTyped(name, optionNamed(name).type.arity),
      );
      expect(completions[index]?.toSorted()).toEqual(expect.arrayContaining([...own, ...ofNode].toSorted()));
      const longer = OFFERED.filter((other) => other.words.startsWith(`${words} `));
      if (longer.length === 0) expect(new Set(completions[index])).toEqual(new Set([...own, ...ofNode]));
    }
  });

  it("offers the options of the help, and every other one to who begins to type it", async () => {
    const visible = OPTION_NAMES.filter((name) => optionNamed(name).isHidden !== true);
    const [all = []] = await completedByBash([["--"]]);
    expect(all).toEqual(visible.map((name) => asTyped(name, optionNamed(name).type.arity)));
    const spellings = OPTION_NAMES.flatMap((name) =>
      spellingsOf(name).map((spelling) => asTyped(spelling, optionNamed(name).type.arity)),
    ).filter(
      (spelling) => all.includes(spelling) || !all.some((each) => each.startsWith(withoutEquals(spelling))),
    );
    const completions = await completedByBash(spellings.map((spelling) => [withoutEquals(spelling)]));
    for (const [index, spelling] of spellings.entries()) expect(completions[index]).toContain(spelling);
  });

  it("offers values that the option takes, attached, as the next word, and after a letter", async () => {
    const offered = OPTION_NAMES.flatMap((name) => {
      const { type } = optionNamed(name);
      return Array.isArray(type.offers) ? [{ name, type, words: type.offers as readonly string[] }] : [];
    });
    const completions = await completedByBash(offered.map(({ name }) => [`--${name}`, "=", ""]));
    for (const [index, { name, type, words }] of offered.entries()) {
      expect([name, completions[index]]).toEqual([name, words]);
      for (const word of words) expect([name, word, type.read(word).ok]).toEqual([name, word, true]);
    }
    expect(
      await completedByBash([
        ["--profile", "ENT"],
        ["-l", "DE"],
        ["--rpc-http-api", "=", "ETH,NE"],
        ["--rpc-http-api=ETH,NE"],
        ["--rpc-http-api", "=", "NET,N"],
        ["--logging-modules", "=", "consensus", "=", "DE"],
        ["--logging-modules", "=", "consensus=DEBUG,sync", "=", "TR"],
        ["--rpc-http-port", "=", ""],
        ["blocks", "import", "--format", "=", ""],
        ["data", "export", "--format", "=", ""],
        ["--data-path", "blocks", "da"],
      ]),
    ).toEqual([
      ["ENTERPRISE"],
      ["DEBUG"],
      ["ETH,NET"],
      ["--rpc-http-api=ETH,NET"],
      [],
      ["DEBUG"],
      ["TRACE"],
      [],
      ["RLP", "JSON"],
      ["parquet", "csv", "json"],
      ["database", "data"],
    ]);
  });
});

/** What a user types, and the words that the program then gets. */
const TYPED: readonly (readonly [keys: string, words: readonly string[]])[] = [
  ["ibex bl\timp\t--forma\tR\t", ["blocks", "import", "--format=RLP"]],
  ["ibex --rpc-http-api=ETH,N\t", ["--rpc-http-api=ETH,NET"]],
  ["ibex --logging-modules=cons\tDE\t", ["--logging-modules=consensus=DEBUG"]],
  ["ibex --profile M\t", ["--profile", "MINIMALIST_STAKER"]],
  ["ibex --engine-rpc-e\t", ["--engine-rpc-enabled"]],
  ["ibex --data-pa\tnew\\ fo\tsta\t", ["--data-path=new folder/state"]],
  ["ibex --data-path new\\ fo\tsta\t", ["--data-path", "new folder/state"]],
  ["ibex blocks import new\\ fo\tsta\t", ["blocks", "import", "new folder/state"]],
];

describe("at a terminal", () => {
  it.runIf(hasBash && hasTerminal)(
    "bash completes words, options, values and files with blanks",
    async () => {
      const folder = await shellFolder("bash");
      writeFileSync(join(folder, "rc"), `PS1='${PROMPT}'\nsource ./script\n${SHOW}`);
      expect(await typed("bash --noprofile --rcfile rc -i", folder)).toEqual(TYPED.map(([, words]) => words));
    },
  );

  it.runIf(hasZsh && hasTerminal)("zsh completes words, options, values and files with blanks", async () => {
    const folder = await shellFolder("zsh");
    writeFileSync(
      join(folder, ".zshrc"),
      `PS1='${PROMPT}'\nautoload -Uz compinit\ncompinit -u -D\nsource ./script\n${SHOW}`,
    );
    expect(await typed("zsh -i", folder)).toEqual(TYPED.map(([, words]) => words));
  });
});

const PROMPT = "READY> ";

/** Takes the place of the program, and shows its arguments. */
const SHOW = `ibex() { printf 'GOT'; printf '<%s>' "$@"; printf '\\n'; }\n`;

async function shellFolder(shell: "bash" | "zsh"): Promise<string> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "new folder"));
  writeFileSync(join(folder, "new folder", "state"), "");
  writeFileSync(join(folder, "script"), (await ibexHere(["completion", shell])).output);
  return folder;
}

/** Types the lines of TYPED into a shell, and returns the arguments that each gave. */
async function typed(command: string, folder: string): Promise<readonly (readonly string[])[]> {
  const terminal = spawn("script", ["-qec", command, "/dev/null"], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, ZDOTDIR: folder, TERM: "dumb" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  let output = "";
  const closed = new Promise<void>((resolve) => terminal.once("close", () => resolve()));
  const lines = [...TYPED.map(([keys]) => keys), "exit"];
  let sent = 0;
  terminal.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
    // A line is typed when the shell has asked for it: before that, its terminal treats a tab as any other character.
    while (sent < lines.length && output.split(PROMPT).length > sent + 1)
      terminal.stdin.write(`${lines[sent++]}\n`);
  });
  await closed;
  return [...output.matchAll(/GOT((?:<[^>]*>)+)/g)].map(([, words = ""]) => words.slice(1, -1).split("><"));
}

/** What bash's completion function leaves for lines whose last word is to be completed, all in one process. */
async function completedByBash(
  lines: readonly (readonly string[])[],
): Promise<readonly (readonly string[])[]> {
  const { exitCode, output, errors } = await ibexHere(["completion", "bash"]);
  expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: "" });
  const quoted = (word: string): string => `'${word}'`;
  const questions = lines.map((line) => `complete_line ibex ${line.map(quoted).join(" ")}`).join("\n");
  const bash = spawnSync("bash", ["--norc", "-s"], {
    input: `${output}\n${COMPLETE_LINE}\n${questions}\n`,
    encoding: "utf8",
    maxBuffer: 64 * 1024 ** 2,
  });
  expect(bash.stderr).toBe("");
  return bash.stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split(" ").filter((word) => word !== ""));
}

/** Calls the function that `complete` has registered, with the variables that bash gives it. */
const COMPLETE_LINE = `
completes=$(complete -p ibex | sed -E 's/.*-F ([^ ]+) .*/\\1/')
complete_line() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  $completes ibex
  echo "\${COMPREPLY[*]}"
}
`;

function withoutEquals(spelling: string): string {
  return spelling.replace(/=$/, "");
}

function asTyped(name: string, arity: "switch" | "single" | "list"): string {
  return `--${name}${arity === "switch" ? "" : "="}`;
}
