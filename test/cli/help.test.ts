import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseCommandLine } from "../../src/cli/commandLine.ts";
import { helpText, hiddenHelpText } from "../../src/cli/help.ts";
import { welcomeText } from "../../src/cli/welcome.ts";
import { DEV_ACCOUNTS, DEV_GENESIS_FILE, DEV_MNEMONIC } from "../../src/config/devNetwork.ts";
import { HELP_GROUPS } from "../../src/config/options/option.ts";
import { OPTION_NAMES, optionNamed } from "../../src/config/options.ts";
import { readSettings } from "../../src/config/readSettings.ts";
import type { Mining } from "../../src/node/runningNode.ts";
import { casesOf } from "../thorough.ts";

describe("the help", () => {
  it("lists every visible option once, and no hidden one", () => {
    const text = helpText();
    for (const name of OPTION_NAMES) {
      const times = text
        .split("\n")
        .filter((line) => new RegExp(`^  (-\\w, )?--${name}(=|$)`).test(line)).length;
      expect([name, times]).toEqual([name, optionNamed(name).isHidden === true ? 0 : 1]);
    }
  });

  it("fits into 80 columns, including the hidden options", () => {
    for (const text of [helpText(), hiddenHelpText()]) {
      expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
    }
  });

  it("has its groups in order", () => {
    const lines = helpText().split("\n");
    const headings = lines.filter((line) => HELP_GROUPS.some((group) => group === line));
    expect(headings).toEqual(HELP_GROUPS.filter((group) => headings.includes(group)));
    expect(headings.slice(0, 3)).toEqual(["General", "Logging", "JSON-RPC over HTTP"]);
  });

  it("leaves the hidden options to --Xhelp, which says why they have no effect", () => {
    const shown = optionsIn(helpText());
    const hidden = optionsIn(hiddenHelpText());
    expect([...shown, ...hidden].sort()).toEqual([...OPTION_NAMES].sort());
    expect(hiddenHelpText().replace(/\s+/g, " ")).toContain(
      "--engine-rpc-enabled Serve the Engine API to a consensus client. No effect: the Engine API does not belong to an IBFT 2.0 node.",
    );
  });

  it("shows an option's purpose, unit and default", () => {
    expect(helpText()).toContain(
      "  --rpc-max-logs-range=<BLOCKS>\n        Maximum distance between the first and the last block of a log query; 0\n        for no limit. Default: 1000.\n",
    );
  });
});

function optionsIn(text: string): readonly string[] {
  return [...text.matchAll(/^ {2}(?:-\w, )?--([\w-]+)/gm)].map((match) => match[1] ?? "");
}

describe("every option", () => {
  it.each(OPTION_NAMES)("--%s can read its own default, and has a help that ends like a sentence", (name) => {
    const { type, default: value, help } = optionNamed(name);
    expect(help).toMatch(/^[A-Z].*\.$/);
    if (value === undefined) return;
    const outcome = type.read(type.show(value));
    expect(outcome.ok && outcome.value).toEqual(value);
  });
});

describe("the types of all options", () => {
  it("never throw on any text, and read what they show", () => {
    const texts = fc.oneof(
      fc.string(),
      fc.stringMatching(/^[-\w.:,=@/?[\]]{0,40}$/),
      fc.integer().map(String),
    );
    fc.assert(
      fc.property(fc.constantFrom(...OPTION_NAMES), texts, (name, text) => {
        const { type } = optionNamed(name);
        const outcome = type.read(text);
        if (!outcome.ok) return;
        const again = type.read(type.show(outcome.value));
        expect([name, text, again.ok && again.value]).toEqual([name, text, outcome.value]);
      }),
      { numRuns: casesOf(5000) },
    );
  });
});

describe("the welcome", () => {
  const settingsWith = (...args: string[]) => {
    const { raw } = parseCommandLine(args);
    const outcome = readSettings({ raw, environment: {}, workingDirectory: "/work", isTerminal: false });
    if (!outcome.ok) throw new Error(outcome.error.message);
    return outcome.value;
  };
  const byPeriod: Mining = { isModeDefault: true, isAutomatic: false, intervalMs: 1000 };
  const endpoints = {
    http: { host: "127.0.0.1", port: 8545 },
    webSocket: { host: "::1", port: 8546 },
    explorer: { host: "127.0.0.1", port: 8549 },
  };
  const asShipped = { endpoints, mining: byPeriod };

  it("has everything that a builder needs to begin, on one screen of 24 lines and 80 columns", () => {
    const text = welcomeText(settingsWith(), asShipped);
    for (const fact of [
      "1337",
      "http://127.0.0.1:8545",
      "ws://[::1]:8546",
      "/work/ibex-data",
      "http://127.0.0.1:8549, the chain in your browser",
      DEV_MNEMONIC,
      DEV_ACCOUNTS[0]?.address,
      "public",
      "Ctrl-C stops",
      "--dev-show-keys",
      "--dev-instant-blocks",
      "unlocked accounts",
      "anvil",
      "--help",
    ]) {
      expect(text).toContain(fact);
    }
    const lines = text.split("\n");
    expect(lines.length).toBeLessThanOrEqual(24);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(DEV_ACCOUNTS.filter(({ privateKey }) => text.includes(privateKey))).toEqual([]);
    // The program has the same words however it was started.
    expect(text).not.toContain("npm");
  });

  it("says how blocks are made, and offers comforts only where there are any", () => {
    const shown = (mining: Mining | undefined): string => welcomeText(settingsWith(), { endpoints, mining });
    const chosen = { isModeDefault: false, isAutomatic: true, intervalMs: undefined };
    for (const [mining, words] of [
      [chosen, "one for each transaction, at once"],
      [{ ...chosen, intervalMs: 1500 }, "one for each transaction, at once, and one each 1.5 s"],
      [{ ...chosen, isAutomatic: false, intervalMs: 1500 }, "one each 1.5 s, as callers chose"],
      [{ ...chosen, isAutomatic: false }, "on demand alone, as callers chose: evm_mine, evm_setAutomine"],
    ] as const) {
      const text = shown(mining);
      expect(text).toMatch(new RegExp(`^ {2}Blocks +${words}$`, "m"));
      expect(text).toContain("anvil");
      expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
    }
    const shared = shown(undefined);
    expect(shared).toMatch(/^ {2}Blocks +one a second$/m);
    expect(shared).not.toContain("anvil");
  });

  it("has every account with its private key when asked for them", () => {
    const text = welcomeText(settingsWith("--dev-show-keys"), asShipped);
    for (const { address, privateKey } of DEV_ACCOUNTS) {
      expect(text).toContain(address);
      expect(text).toContain(privateKey);
    }
    expect(text).not.toContain("--dev-show-keys");
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  it("belongs to the development network: --dev-show-keys has no effect elsewhere, and says so", () => {
    const settings = settingsWith("--dev-show-keys", `--genesis-file=${DEV_GENESIS_FILE}`);
    expect(settings.warnings).toContain(
      "--dev-show-keys has no effect: this is not the development network, and its keys are not shown.",
    );
  });

  it("shows when a server is off", () => {
    const off = { http: undefined, webSocket: undefined, explorer: undefined };
    const text = welcomeText(settingsWith(), { endpoints: off, mining: byPeriod });
    expect(text).not.toContain("browser");
    expect(text).toMatch(/HTTP +off\n.*WebSocket +off\n.*Explorer +off\n/);
  });
});
