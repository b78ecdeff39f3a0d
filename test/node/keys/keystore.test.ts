import { createDecipheriv, scryptSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { decryptKeystore, encryptKeystore, parseKeystore } from "../../../src/node/keys/keystore.ts";
import { nodeKey } from "../../../src/node/keys/nodeKey.ts";
import { keccak256 } from "../../../src/primitives/hash.ts";
import { hexToBytes, parseHex, toHex } from "../../../src/primitives/hex.ts";
import { itIfThorough } from "../../thorough.ts";
import { quickKeystore } from "./quickKeystore.ts";

/** The two test vectors of the definition of Web3 Secret Storage, version 3. */
const PASSWORD = "testpassword";
const SECRET = "0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d";
const PBKDF2 = {
  cipher: "aes-128-ctr",
  cipherparams: { iv: "6087dab2f9fdbbfaddc31a909735c1e6" },
  ciphertext: "5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46",
  kdf: "pbkdf2",
  kdfparams: {
    c: 262144,
    dklen: 32,
    prf: "hmac-sha256",
    salt: "ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd",
  },
  mac: "517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2",
};
const SCRYPT = {
  cipher: "aes-128-ctr",
  cipherparams: { iv: "83dbcc02d8ccb40e466191a123791e0e" },
  ciphertext: "d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c",
  kdf: "scrypt",
  kdfparams: {
    dklen: 32,
    n: 262144,
    p: 8,
    r: 1,
    salt: "ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19",
  },
  mac: "2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097",
};

interface Content {
  readonly crypto?: object;
  readonly version?: unknown;
  readonly address?: string;
}

const textOf = (content: Content): string =>
  JSON.stringify({ id: "3198bc9c-6672-5ab3-d995-4942343ae5b6", version: 3, ...content });

async function decrypted(text: string, password = PASSWORD): Promise<string> {
  const keystore = parseKeystore(text);
  if (!keystore.ok) return keystore.error.message;
  const key = await decryptKeystore(keystore.value, password);
  return key.ok ? toHex(key.value.privateKey) : key.error.message;
}

describe("a keystore", () => {
  it.each([
    ["pbkdf2", PBKDF2],
    ["scrypt", SCRYPT],
  ])("gives the secret of the definition's vector of %s", async (_, crypto) => {
    expect(await decrypted(textOf({ crypto }))).toBe(SECRET);
  });

  it("may be written in capitals, as by some programs", async () => {
    const crypto = await quickCrypto();
    const text = JSON.stringify({ Version: 3, Crypto: { ...crypto, mac: crypto.mac.toUpperCase() } });
    expect(await decrypted(text)).toBe(SECRET);
  });

  it("is not opened by another password", async () => {
    expect(await decrypted(textOf({ crypto: await quickCrypto() }), "testpasswort")).toBe(
      "the password is not the one of this file",
    );
  });

  it("is refused when it names another address than its key's", async () => {
    const text = textOf({ crypto: await quickCrypto(), address: "00".repeat(20) });
    expect(await decrypted(text)).toMatch(
      /^it names the address 0x0{40}, but holds the key of 0x008aeeda4d805471/,
    );
  });

  itIfThorough("is written so that it opens with its password", async () => {
    const { privateKey } = nodeKey(parseHex(SECRET) ?? new Uint8Array());
    const text = await encryptKeystore(privateKey, "päss wörd");
    expect(openedByNode(text, "päss wörd")).toBe(SECRET);
    const { crypto, version } = JSON.parse(text);
    expect({ version, kdf: crypto.kdf, ...crypto.kdfparams, salt: 0 }).toEqual({
      version: 3,
      kdf: "scrypt",
      n: 262144,
      r: 8,
      p: 1,
      dklen: 32,
      salt: 0,
    });
  });
});

/** As in the vectors, with less work. */
async function quickCrypto(): Promise<{ readonly mac: string }> {
  return JSON.parse(await quickKeystore(hexToBytes(SECRET), PASSWORD)).crypto;
}

/** The secret of a keystore with scrypt, by Node.js's own functions, which take a fraction of the time. */
function openedByNode(text: string, password: string): string {
  const { ciphertext, cipherparams, kdfparams, mac } = JSON.parse(text).crypto;
  const bytes = (digits: string) => Buffer.from(digits, "hex");
  const { n: N, r, p, dklen, salt } = kdfparams;
  const derived = scryptSync(password, bytes(salt), dklen, { N, r, p, maxmem: 2 * 128 * N * r });
  const sealed = Buffer.concat([derived.subarray(16, 32), bytes(ciphertext)]);
  expect(toHex(keccak256(sealed))).toBe(`0x${mac}`);
  const cipher = createDecipheriv("aes-128-ctr", derived.subarray(0, 16), bytes(cipherparams.iv));
  return `0x${cipher.update(bytes(ciphertext)).toString("hex")}`;
}

describe("before any work, a keystore is refused", () => {
  const scrypt = (changes: object) => ({
    crypto: { ...SCRYPT, kdfparams: { ...SCRYPT.kdfparams, ...changes } },
  });
  const pbkdf2 = (changes: object) => ({
    crypto: { ...PBKDF2, kdfparams: { ...PBKDF2.kdfparams, ...changes } },
  });
  it.each<[string, Content, string]>([
    ["of version 4", { version: 4, crypto: {} }, "its version is 4, for BLS keys of proof of stake"],
    ["of version 1", { version: "1" }, 'its version is "1"; a keystore'],
    ["without version", { version: undefined }, "its version is missing"],
    ["without content", {}, "its cipher is missing"],
    ["of another cipher", { crypto: { ...SCRYPT, cipher: "aes-128-cbc" } }, 'its cipher is "aes-128-cbc"'],
    ["of another function", { crypto: { ...SCRYPT, kdf: "argon2" } }, 'its kdf is "argon2"'],
    ["of a short key", { crypto: { ...SCRYPT, ciphertext: "00" } }, "its ciphertext is not 32 bytes"],
    [
      "of a long iv",
      { crypto: { ...SCRYPT, cipherparams: { iv: "00".repeat(17) } } },
      "its iv is not 16 bytes",
    ],
    ["without mac", { crypto: { ...SCRYPT, mac: undefined } }, "its mac is not 32 bytes"],
    ["that asks for 1 GiB", scrypt({ n: 2 ** 20, r: 8 }), "would take 1073741824 bytes of memory"],
    ["that asks for hours", scrypt({ p: 1e6 }), "would take too long: their product may be at most 8388608"],
    ["whose n is no power of 2", scrypt({ n: 262143 }), "its scrypt n is 262143, no power of 2"],
    ["whose n is a text", scrypt({ n: "262144" }), 'its scrypt n is "262144"'],
    ["whose r is negative", scrypt({ r: -1 }), "its scrypt r and p are -1 and 8"],
    ["with a long salt", scrypt({ salt: "00".repeat(1025) }), "its salt is not at most 1024 bytes"],
    ["with a long derived key", scrypt({ dklen: 1e9 }), "its dklen is 1000000000; 32 is usual"],
    ["of too many iterations", pbkdf2({ c: 1e9 }), "its 1000000000 iterations would take too long"],
    ["of another hash", pbkdf2({ prf: "hmac-md5" }), 'its prf is "hmac-md5"'],
  ])("%s", (_, content, message) => {
    const parsed = parseKeystore(textOf(content));
    expect(parsed.ok ? "" : parsed.error.message).toContain(message);
  });

  it.each(["", "null", "[]", "3", "{"])("when it is %j", (text) => {
    expect(parseKeystore(text).ok).toBe(false);
  });

  it("when it is long", () => {
    const parsed = parseKeystore(" ".repeat(16_385) + textOf({ crypto: PBKDF2 }));
    expect(parsed).toMatchObject({ error: { message: "it is larger than 16384 bytes" } });
  });
});
