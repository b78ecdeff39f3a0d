import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compare } from "bcryptjs";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/commands/commandTable.ts";
import { helpText } from "../../src/cli/help.ts";
import { DEV_VALIDATOR_ADDRESS } from "../../src/config/devNetwork.ts";
import { toHex } from "../../src/primitives/hex.ts";
import { temporaryFolder } from "../storage/temporaryFolder.ts";
import { describeWithVectors, readVectorJson, vectorPath } from "../vectors.ts";
import { ibexHere } from "./program.ts";

const VALIDATORS = [
  "0xbe068f726a13c8d46c44be6ce9d275600e1735a4",
  "0x5ff6f4b66a46a2b2310a6f3a93aaddc0d9a1c193",
] as const;
const ADDRESSES = VALIDATORS.map((address) => `94${address.slice(2)}`).join("");
/** The worked check of ibft2.md#extra-data. */
const IBFT_EXTRA_DATA = `0xf853a0${"00".repeat(32)}ea${ADDRESSES}808400000000c0`;
const QBFT_EXTRA_DATA = `0xf84fa0${"00".repeat(32)}ea${ADDRESSES}c080c0`;

describe("every command", () => {
  it.each(COMMANDS.map(({ words }) => words))("%s has its own help, in 80 columns", async (words) => {
    const { exitCode, output } = await ibexHere([...words.split(" "), "--help"]);
    expect(exitCode).toBe(0);
    expect(output).toMatch(new RegExp(`^Usage: ibex \\[OPTIONS\\] ${words}`));
    expect(output.split("\n").filter((line) => line.length > 80)).toEqual([]);
  });

  it("is listed in the help of its first word, and in the help of the program", () => {
    expect(helpText("rlp")).toMatch(/rlp encode\n(.|\n)*rlp decode\n/);
    for (const { words, ignoresOptions } of COMMANDS)
      if (!ignoresOptions) expect(helpText()).toMatch(new RegExp(`^  ${words}\\b`, "m"));
  });
});

describe("ibex rlp", () => {
  it.each([
    ["IBFT_EXTRA_DATA", IBFT_EXTRA_DATA],
    ["QBFT_EXTRA_DATA", QBFT_EXTRA_DATA],
  ])("encodes addresses as %s and decodes them", async (type, extraData) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "validators.json"), JSON.stringify(VALIDATORS));
    const here = { workingDirectory: folder };
    const encoded = await ibexHere(["rlp", "encode", "--from=validators.json", `--type=${type}`], here);
    expect(encoded).toEqual({ exitCode: 0, output: `${extraData}\n`, errors: "" });
    await ibexHere(
      ["rlp", "encode", "--from=validators.json", "--to=extra", `--type=${type.toLowerCase()}`],
      here,
    );
    expect(readFileSync(join(folder, "extra"), "utf8")).toBe(extraData);
    const decoded = await ibexHere(["rlp", "decode", "--from=extra", `--type=${type}`], here);
    expect(decoded).toEqual({ exitCode: 0, output: `[${VALIDATORS.join(", ")}]\n`, errors: "" });
    writeFileSync(join(folder, "extra"), `${extraData}\r\nof the network's genesis block\n`);
    expect(await ibexHere(["rlp", "decode", "--from=extra", `--type=${type}`], here)).toEqual(decoded);
  });

  it.each([
    ["encode", "", "An error occurred while trying to read the JSON data."],
    [
      "encode",
      '{"property":0}',
      "Unable to map the JSON data with selected type. Please check JSON input format.",
    ],
    [
      "encode",
      '["0x12"]',
      "Unable to map the JSON data with selected type. Please check JSON input format. Item 0",
    ],
    ["encode", "[", "Unable to load the JSON data. Please check JSON input format."],
    ["decode", "zz", "Unable to decode the RLP data: hexadecimal digits are expected."],
    [
      "decode",
      "0xc0",
      "Unable to decode the RLP data as IBFT_EXTRA_DATA: extra data is a list of five items.",
    ],
  ])("refuses to %s %j", async (word, input, message) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "input"), input);
    const refused = await ibexHere(["rlp", word, "--from=input"], { workingDirectory: folder });
    expect(refused).toMatchObject({ exitCode: 2, output: "" });
    expect(refused.errors).toContain(message);
  });

  it("refuses an unknown type and an absent file", async () => {
    const wrong = await ibexHere(["rlp", "encode", "--from=absent", "--type=CLIQUE"]);
    expect(wrong.exitCode).toBe(2);
    expect(wrong.errors).toMatch(/^Invalid value for option '--type': expected one of \[IBFT_EXTRA_DATA, /);
    const absent = await ibexHere(["rlp", "encode", "--from=absent"]);
    expect(absent.exitCode).toBe(2);
    expect(absent.errors).toMatch(/^The file absent cannot be read: ENOENT/);
  });
});

describe("ibex public-key", () => {
  it("creates a missing key once, readable only by its owner, and says so on standard error", async () => {
    const folder = temporaryFolder();
    const here = { workingDirectory: folder };
    const first = await ibexHere(["--data-path=deep/node", "public-key", "export"], here);
    const keyFile = join(folder, "deep", "node", "key");
    expect(first.exitCode).toBe(0);
    expect(first.output).toMatch(/^0x[0-9a-f]{128}\n$/);
    expect(first.errors).toBe(`A new node key was created: ${keyFile}\n`);
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    const again = await ibexHere(["--data-path=deep/node", "public-key", "export"], here);
    expect(again).toEqual({ exitCode: 0, output: first.output, errors: "" });
    const inFile = await ibexHere(
      ["public-key", "export-address", `--node-private-key-file=${keyFile}`, "--to=address"],
      here,
    );
    expect(inFile).toEqual({ exitCode: 0, output: "", errors: "" });
    expect(readFileSync(join(folder, "address"), "utf8")).toMatch(/^0x[0-9a-f]{40}$/);
    expect(existsSync(join(folder, "deep", "node", "chain"))).toBe(false);
  });

  it.each(["votes.log", "chain/CURRENT"])(
    "makes no key beside %s of a node whose key is lost, unless told to",
    async (left) => {
      const folder = temporaryFolder();
      mkdirSync(join(folder, "data/chain"), { recursive: true });
      writeFileSync(join(folder, "data", left), "");
      const here = { workingDirectory: folder };
      for (const words of ["export", "export-address"]) {
        const refused = await ibexHere(["--data-path=data", "public-key", words], here);
        expect(refused).toMatchObject({ exitCode: 2, output: "" });
        expect(refused.errors).toContain(`The node key file ${join(folder, "data/key")} is missing, but `);
        expect(refused.errors).toContain("public-key export-address --new-key");
      }
      expect(existsSync(join(folder, "data/key"))).toBe(false);
      const made = await ibexHere(["--data-path=data", "public-key", "export-address", "--new-key"], here);
      expect(made.exitCode).toBe(0);
      // Once it is there, it is shown as ever.
      const again = await ibexHere(["--data-path=data", "public-key", "export-address"], here);
      expect(again).toEqual({ exitCode: 0, output: made.output, errors: "" });
    },
  );

  it("uses the development network's key in the default data folder only", async () => {
    const address = toHex(DEV_VALIDATOR_ADDRESS);
    expect((await ibexHere(["public-key", "export-address"])).output).toBe(`${address}\n`);
    expect((await ibexHere(["--data-path=x", "public-key", "export-address"])).output).not.toContain(address);
  });

  it("refuses an invalid key and another curve", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "key"), "nonsense");
    const here = { workingDirectory: folder };
    const noKey = await ibexHere(["--node-private-key-file=key", "public-key", "export"], here);
    expect(noKey.exitCode).toBe(2);
    expect(noKey.errors).toContain("does not hold a valid private key");
    const curve = await ibexHere(["public-key", "export", "--ec-curve=secp256r1"], here);
    expect(curve.exitCode).toBe(2);
    expect(curve.errors).toMatch(/^Invalid value for option '--ec-curve': expected one of \[secp256k1\]/);
  });
});

describe("commands that do not apply to Ibex", () => {
  it.each([
    ["storage trie-log prune --data-path=x", 0],
    ["storage rocksdb usage", 0],
    ["operator generate-log-bloom-cache --start-block=0", 0],
  ])("ibex %s says so and exits with %i", async (line, expected) => {
    const { exitCode, output, errors } = await ibexHere(line.split(" "));
    expect(exitCode).toBe(expected);
    expect(output + errors).toMatch(/^Not applicable: .*\.\n$/);
  });
});

describe("ibex password hash", () => {
  it("prints a hash in Besu's form, another one each time", async () => {
    const hash = async (): Promise<string> => {
      const { output } = await ibexHere(["password", "hash", "--password=s3cret words"]);
      expect(output).toMatch(/^\$2a\$10\$[./A-Za-z0-9]{53}\n$/);
      return output.trimEnd();
    };
    const [one, other] = [await hash(), await hash()];
    expect(one).not.toBe(other);
    expect(await compare("s3cret words", one)).toBe(true);
    expect(await compare("s3cret", one)).toBe(false);
  });

  it("refuses one of which only the beginning would count", async () => {
    const { exitCode, output, errors } = await ibexHere(["password", "hash", `--password=${"ü".repeat(37)}`]);
    expect({ exitCode, output }).toEqual({ exitCode: 2, output: "" });
    expect(errors).toContain("more than 72 bytes");
    expect((await ibexHere(["password", "hash", `--password=${"ü".repeat(36)}`])).exitCode).toBe(0);
  });

  it("needs the password", async () => {
    const { exitCode, errors } = await ibexHere(["password", "hash"]);
    expect(exitCode).not.toBe(0);
    expect(errors).toContain("Missing required option: '--password=<PASSWORD>'");
  });
});

describeWithVectors("what Besu printed", () => {
  const recorded = (name: string): string => readFileSync(vectorPath("besu-ibft", "cli", name), "utf8");
  const keys = readVectorJson<{ privateKey: string; address: string }[]>("besu-ibft", "net1", "keys.json");

  it("is what rlp encode prints", async () => {
    const input = vectorPath("besu-ibft", "cli", "rlp-encode.input.json");
    const { output } = await ibexHere(["rlp", "encode", `--from=${input}`]);
    expect(output).toBe(recorded("rlp-encode-IBFT_EXTRA_DATA.txt"));
  });

  it.each(["export", "export-address"])("is what public-key %s prints", async (word) => {
    const folder = temporaryFolder();
    const expected = recorded(`public-key-${word}.txt`);
    const address = recorded("public-key-export-address.txt").trim();
    const key = keys.find((each) => each.address === address)?.privateKey ?? "";
    writeFileSync(join(folder, "key"), key);
    const { output } = await ibexHere([`--data-path=${folder}`, "public-key", word]);
    expect(output).toBe(expected);
  });
});
