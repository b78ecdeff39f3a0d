import { messageOf } from "../../primitives/errorMessage.ts";
import { equalBytes, parseHex, toHex } from "../../primitives/hex.ts";
import { fail, ok, type Result } from "../../primitives/result.ts";
import { type NodeKey, nodeKey } from "./nodeKey.ts";

/**
 * A private key encrypted by a password: Web3 Secret Storage of version 3, the keystore that wallets, Besu's tools and
 * Web3Signer share. What a file asks of memory and time is judged before the work begins.
 */
interface Keystore {
  /** The file's JSON in lower case, as some programs write `Crypto`. Its members below have been checked. */
  readonly text: string;
  /** The address that the file names; undefined when it names none. */
  readonly address: Uint8Array | undefined;
}

export type KeystoreErrorCode = "unusableNodeKey";

/** Reads a keystore without decrypting it. An error says what is wrong, in words that follow the file's name. */
export function parseKeystore(text: string): Result<Keystore, KeystoreErrorCode> {
  if (text.length > KEYSTORE_LIMIT) return unusable(`it is larger than ${KEYSTORE_LIMIT} bytes`);
  const lowered = text.toLowerCase();
  let content: Members;
  try {
    content = membersOf(JSON.parse(lowered));
  } catch (error) {
    return unusable(`it is not JSON: ${messageOf(error)}`);
  }
  const problem = findVersionProblem(content["version"]) ?? findCryptoProblem(membersOf(content["crypto"]));
  if (problem !== undefined) return unusable(problem);
  const { address } = content;
  const named = typeof address === "string" ? parseHex(address) : undefined;
  return ok({ text: lowered, address: named });
}

/**
 * Decrypts the key: about a second of work, in slices that leave the event loop free. An error when the password is
 * wrong, or the key is not that of the address in the file.
 */
export async function decryptKeystore(
  { text, address }: Keystore,
  password: string,
): Promise<Result<NodeKey, KeystoreErrorCode>> {
  const { Wallet } = await import("@ethereumjs/wallet");
  let key: NodeKey;
  try {
    const wallet = await Wallet.fromV3(text, password);
    key = nodeKey(Uint8Array.from(wallet.getPrivateKey()));
  } catch (error) {
    const reason = messageOf(error);
    return unusable(
      reason.includes("wrong passphrase") ? "the password is not the one of this file" : `${reason}`,
    );
  }
  if (address !== undefined && !equalBytes(address, key.address)) {
    return unusable(`it names the address ${toHex(address)}, but holds the key of ${toHex(key.address)}`);
  }
  return ok(key);
}

/** The text of a keystore for a private key of 32 bytes: scrypt with n = 2^18, r = 8, p = 1, as other programs write. */
export async function encryptKeystore(privateKey: Uint8Array, password: string): Promise<string> {
  const { Wallet } = await import("@ethereumjs/wallet");
  return `${await Wallet.fromPrivateKey(privateKey).toV3String(password)}\n`;
}

/** Bytes of a keystore; those of other programs have about 500. */
export const KEYSTORE_LIMIT = 16 * 1024;

/** Twice what is usual (n = 2^18, r = 8). */
const SCRYPT_BYTES_LIMIT = 512 * 1024 * 1024;
/** n · r · p: four times what is usual, some seconds. */
const SCRYPT_WORK_LIMIT = 2 ** 23;
/** Sixteen times what is usual, some seconds. */
const PBKDF2_ITERATIONS_LIMIT = 2 ** 22;
/** Bytes. */
const SALT_LIMIT = 1024;
/** Bytes of the derived key: 32 are used. */
const DERIVED_KEY_BYTES = { min: 32, max: 64 } as const;

type Members = Readonly<Record<string, unknown>>;

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function findVersionProblem(version: unknown): string | undefined {
  if (version === 3) return undefined;
  if (version === 4) return "its version is 4, for BLS keys of proof of stake; version 3 is expected";
  return `its version is ${JSON.stringify(version) ?? "missing"}; a keystore (Web3 Secret Storage) of version 3 is expected`;
}

function findCryptoProblem(crypto: Members): string | undefined {
  const { cipher, kdf } = crypto;
  const params = membersOf(crypto["kdfparams"]);
  if (cipher !== "aes-128-ctr") return `its cipher is ${show(cipher)}; aes-128-ctr is expected`;
  if (!isHexOf(crypto["ciphertext"], 32)) return "its ciphertext is not 32 bytes in hexadecimal digits";
  if (!isHexOf(membersOf(crypto["cipherparams"])["iv"], 16))
    return "its iv is not 16 bytes in hexadecimal digits";
  if (!isHexOf(crypto["mac"], 32)) return "its mac is not 32 bytes in hexadecimal digits";
  const { salt, dklen } = params;
  if (typeof salt !== "string" || salt.length > 2 * SALT_LIMIT || !isHexOf(salt, salt.length / 2))
    return `its salt is not at most ${SALT_LIMIT} bytes in hexadecimal digits`;
  if (!isWhole(dklen) || dklen < DERIVED_KEY_BYTES.min || dklen > DERIVED_KEY_BYTES.max)
    return `its dklen is ${show(dklen)}; 32 is usual`;
  if (kdf === "scrypt") return findScryptProblem(params);
  if (kdf === "pbkdf2") return findPbkdf2Problem(params);
  return `its kdf is ${show(kdf)}; scrypt and pbkdf2 are known`;
}

function findScryptProblem({ n, r, p }: Members): string | undefined {
  if (!isWhole(n) || n < 2 || (BigInt(n) & BigInt(n - 1)) !== 0n)
    return `its scrypt n is ${show(n)}, no power of 2`;
  if (!isWhole(r) || !isWhole(p))
    return `its scrypt r and p are ${show(r)} and ${show(p)}, no positive whole numbers`;
  if (128 * n * r > SCRYPT_BYTES_LIMIT)
    return `its scrypt parameters n = ${n} and r = ${r} would take ${128 * n * r} bytes of memory; at most ${SCRYPT_BYTES_LIMIT} are given`;
  if (n * r * p > SCRYPT_WORK_LIMIT)
    return `its scrypt parameters n = ${n}, r = ${r} and p = ${p} would take too long: their product may be at most ${SCRYPT_WORK_LIMIT}`;
  return undefined;
}

function findPbkdf2Problem({ c, prf }: Members): string | undefined {
  if (prf !== "hmac-sha256") return `its prf is ${show(prf)}; hmac-sha256 is expected`;
  if (!isWhole(c)) return `its number of iterations is ${show(c)}`;
  if (c > PBKDF2_ITERATIONS_LIMIT)
    return `its ${c} iterations would take too long; at most ${PBKDF2_ITERATIONS_LIMIT} are done`;
  return undefined;
}

function isWhole(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}

function isHexOf(value: unknown, bytes: number): boolean {
  return typeof value === "string" && value.length === 2 * bytes && /^[0-9a-f]*$/.test(value);
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? "missing").slice(0, 40);
}

function unusable(message: string): Result<never, KeystoreErrorCode> {
  return fail("local", "unusableNodeKey", message);
}
