import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { givenByProfile } from "../../src/config/profiles.ts";
import { readToml } from "../../src/config/toml.ts";
import { describeWithVectors, vectorPath } from "../vectors.ts";
import { DEV_GENESIS, settingsIn } from "./settingsIn.ts";

const { settings, problems } = settingsIn("ibex-profiles-");

describe("a profile", () => {
  it.each(["--profile=ENTERPRISE", "--profile=private"])(
    "%s sets options that are given nowhere else",
    (profile) => {
      expect(settings({ args: [DEV_GENESIS, profile, "--rpc-http-enabled"] })).toMatchObject({
        http: { maxConnections: 300 },
        blockProduction: { minGasPriceWei: 0n },
        pool: { hasLocalPriority: false },
      });
    },
  );

  it("has lower precedence than the configuration file, and higher than the development network's preset", () => {
    const toml = 'profile="ENTERPRISE"\nrpc-http-enabled=true\nrpc-http-max-active-connections=5';
    expect(settings({ args: [DEV_GENESIS], toml }).http?.maxConnections).toBe(5);
    expect(settings({ args: ["--profile=ENTERPRISE"] })).toMatchObject({
      isDevelopmentNetwork: true,
      http: { maxConnections: 300 },
    });
  });

  it("is read from the environment", () => {
    const environment = { BESU_PROFILE: "ENTERPRISE" };
    expect(settings({ args: [DEV_GENESIS, "--rpc-http-enabled"], environment }).http?.maxConnections).toBe(
      300,
    );
  });

  it("warns of the price that it sets, and of no option that it repeats", () => {
    expect(settings({ args: [DEV_GENESIS, "--profile=ENTERPRISE"] }).warnings).toEqual([
      "The profile ENTERPRISE sets --min-gas-price=0: this node includes transactions in its blocks that other nodes may refuse to pool.",
      "Forcing tx-pool-min-gas-price=0, since it cannot be greater than the value of min-gas-price",
    ]);
    expect(settings({ args: [DEV_GENESIS, "--profile=NONE"] }).warnings).toEqual([]);
  });

  it.each([
    [
      "STAKER",
      "--network option and --genesis-file option can't be used at the same time. (--network is given by the profile STAKER; ",
    ],
    [
      "DEV",
      "--network option and --genesis-file option can't be used at the same time. (--network is given by the profile DEV; ",
    ],
    [
      "MINIMALIST_STAKER",
      "Checkpoint sync can't be used with BFT networks (--sync-mode is given by the profile MINIMALIST_STAKER)",
    ],
  ])("for other networks, %s, is refused and named", (profile, problem) => {
    expect(problems({ args: [DEV_GENESIS, `--profile=${profile}`] })).toEqual([
      expect.stringContaining(problem),
    ]);
  });

  it("that is unknown is refused with the list of profiles", () => {
    expect(problems({ args: [DEV_GENESIS, "--profile=home"] })).toEqual([
      "Invalid value for option '--profile': expected one of [ENTERPRISE, PRIVATE, MINIMALIST_STAKER, STAKER, DEV, NONE] (case-insensitive) but was 'home' (given on the command line; accepted: one of ENTERPRISE, PRIVATE, MINIMALIST_STAKER, STAKER, DEV, NONE)",
    ]);
  });
});

describeWithVectors("Besu's profiles", () => {
  it.each([
    ["enterprise-private.toml", "ENTERPRISE"],
    ["enterprise-private.toml", "PRIVATE"],
    ["minimalist-staker.toml", "MINIMALIST_STAKER"],
    ["staker.toml", "STAKER"],
    ["dev.toml", "DEV"],
  ] as const)("%s is our %s", (file, profile) => {
    const { raw } = readToml(readFileSync(vectorPath("besu-core", "profiles", file), "utf8"), file);
    const values = raw.map(({ name, text }) => [name, text]).sort();
    expect(
      givenByProfile(profile)
        .map(({ name, text }) => [name, text])
        .sort(),
    ).toEqual(values);
  });
});
