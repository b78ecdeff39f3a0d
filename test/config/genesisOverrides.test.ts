import { describe, expect, it } from "vitest";
import { genesisWith } from "../builders/genesisWith.ts";
import { DEV_GENESIS, settingsIn } from "./settingsIn.ts";

const { settings, problems, write, folder } = settingsIn("ibex-overrides-");

describe("--override-genesis-config", () => {
  it("replaces values of the genesis file's config, with keys in any case", () => {
    const genesis = write("net.json", genesisWith({ contractSizeLimit: 5 }));
    const { chainSpec } = settings({
      args: [
        `--genesis-file=${genesis}`,
        "--override-genesis-config=CHAINID=77,contractsizelimit=9,zeroBaseFee=false",
      ],
    });
    expect(chainSpec).toMatchObject({ chainId: 77n, contractSizeLimitBytes: 9, isZeroBaseFee: false });
  });

  it("fixes the base fee at the minimum gas price, in a running node at the one of its start", () => {
    const genesis = write(
      "fixed.json",
      genesisWith({ fixedBaseFee: true, zeroBaseFee: false, londonBlock: 0 }),
    );
    const given = [`--genesis-file=${genesis}`, "--min-gas-price=4321"];
    expect(settings({ args: given }).chainSpec.fixedBaseFeePerGas).toBe(4321n);
    const overridden = [...given, "--override-genesis-config=zeroBaseFee=true"];
    expect(settings({ args: overridden }).chainSpec).toMatchObject({ isZeroBaseFee: true });
    expect(settings({ args: overridden }).chainSpec.fixedBaseFeePerGas).toBeUndefined();
  });

  it("removes a key whose new value is empty", () => {
    const genesis = write("net.json", genesisWith({ contractSizeLimit: 5 }));
    const args = [`--genesis-file=${genesis}`, "--override-genesis-config=contractSizeLimit="];
    expect(settings({ args }).chainSpec.contractSizeLimitBytes).toBe(24_576);
  });

  it("gives forks, and is repeatable in a file", () => {
    const toml = 'override-genesis-config=["shanghaiTime=5", "cancunTime=6", "pragueTime=7"]';
    const { activations } = settings({ args: [DEV_GENESIS], toml }).chainSpec.forks;
    expect(activations).toEqual(expect.arrayContaining([expect.objectContaining({ at: { time: 6n } })]));
  });

  it("is named when it makes the genesis file invalid", () => {
    const genesis = write("net.json", genesisWith({}));
    expect(
      problems({ args: [`--genesis-file=${genesis}`, "--override-genesis-config=chainId=many"] }),
    ).toEqual([
      expect.stringMatching(
        new RegExp(
          `^Unable to load genesis file\\. .*config\\.chainId must be a number but was 'many' \\(line 1, column \\d+ of ${folder}/net\\.json with --override-genesis-config=chainid=many\\)$`,
        ),
      ),
    ]);
  });

  it("must be pairs", () => {
    expect(problems({ args: [DEV_GENESIS, "--override-genesis-config=chainId"] })).toEqual([
      "Invalid value for option '--override-genesis-config': 'chainId' should be in KEY=VALUE[,KEY=VALUE]... format (given on the command line; accepted: a list separated by commas: a key of the genesis file's config, = and a value)",
    ]);
  });
});
