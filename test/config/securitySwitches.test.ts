import { describe, expect, it } from "vitest";
import { findOption, OPTION_NAMES, type OptionName, optionNamed } from "../../src/config/options.ts";
import { DEV_GENESIS, settingsIn } from "./settingsIn.ts";

const { settings, problems } = settingsIn("ibex-guards-");
const SECURITY_SWITCHES = OPTION_NAMES.filter((name) => optionNamed(name).refusedWhenOn !== undefined);
const SERVERS = ["--rpc-http-enabled", "--rpc-ws-enabled"];

describe("a security switch that this version does not support", () => {
  it("exists for every kind of access control and encryption", () => {
    expect(SECURITY_SWITCHES).toEqual(expect.arrayContaining(["Xp2p-tls-enabled", "privacy-enabled"]));
  });

  it.each(SECURITY_SWITCHES)("--%s: refused when on, quiet when off", (name) => {
    expect(problems({ args: [DEV_GENESIS, ...SERVERS, `--${name}`] })).toEqual([
      `--${name}=true is refused: ${optionNamed(name).refusedWhenOn}. (--${name} is given on the command line)`,
    ]);
    expect(settings({ args: [DEV_GENESIS, ...SERVERS, `--${name}=false`] }).warnings).toEqual([]);
  });

  it("of a disabled server is ignored", () => {
    expect(
      settings({ args: [DEV_GENESIS, "--rpc-http-tls-enabled", "--rpc-ws-authentication-enabled"] }).warnings,
    ).toEqual([
      "rpc-http-tls-enabled has been ignored because --rpc-http-enabled was not defined on the command line.",
      "rpc-ws-authentication-enabled has been ignored because --rpc-ws-enabled was not defined on the command line.",
    ]);
  });
});

describe("an option that depends on another", () => {
  it("names an existing one", () => {
    const mains = OPTION_NAMES.flatMap((name) => [optionNamed(name).requires ?? []].flat());
    expect(mains.filter((main) => findOption(main) !== main)).toEqual([]);
  });
});

describe("every option that has no effect", () => {
  /** Their required switches are tested with the options of peers. */
  const needy = ["Xdns-update-enabled", "static-nodes-file"];
  const idle = OPTION_NAMES.filter(
    (name) => optionNamed(name).noEffect !== undefined && !needy.includes(name),
  );

  it.each(idle)("--%s gives one warning when it is given", (name) => {
    const [requires] = [optionNamed(name).requires].flat();
    const main = `--${requires}`;
    const mains = requires === undefined || SERVERS.includes(main) ? SERVERS : [...SERVERS, main];
    const given = { args: [DEV_GENESIS, ...mains, `--${name}=${textFor(name)}`] };
    const refused = problems(given);
    if (refused.length > 0) {
      expect(refused).toEqual([expect.stringContaining(`${main}=true is refused`)]);
    } else {
      const mentions = new RegExp(`(^|--|, )${name}\\b`);
      expect(settings(given).warnings.filter((line) => mentions.test(line))).toHaveLength(1);
    }
  });
});

/** A value that differs from the node's behaviour. */
function textFor(name: OptionName): string {
  const { type, isMetBy, default: value } = optionNamed(name);
  if (typeof isMetBy === "boolean") return String(!isMetBy);
  if (isMetBy === 0) return "1";
  const isEmpty = Array.isArray(value) && value.length === 0;
  if (value !== undefined && !isEmpty && type.show(value) !== "") return type.show(value);
  const found = SAMPLES.find((text) => type.read(text).ok);
  if (found === undefined) throw new Error(`no sample fits --${name}`);
  return found;
}

const SAMPLES = [
  "some",
  "5",
  `0x${"11".repeat(20)}`,
  "x:y@host",
  "ETH",
  "5=0x12",
  "BLOB=5",
  "10.0.0.0/8",
  "11".repeat(64),
  `enode://${"11".repeat(64)}@1.2.3.4:1`,
  "eth_call",
];
