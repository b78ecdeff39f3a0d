import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { LONGEST_TOKEN, REMEMBERED_TOKENS, WAITING_TOKENS } from "../../../src/rpc/access/limits.ts";
import { RefusedToken, TokenChecker } from "../../../src/rpc/access/tokens.ts";
import { itIfThorough } from "../../thorough.ts";

const NOW = 1_800_000_000;
const HOST = "10.0.0.1";
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const otherRsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const curve = generateKeyPairSync("ec", { namedCurve: "prime256v1" });

function pem(key: KeyObject): string {
  return key.export({ type: "spki", format: "pem" }).toString();
}

function part(value: object | string): string {
  return Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
}

/** A token of our own making: what a library would not write can be written here, too. */
function token(
  payload: object,
  {
    key = rsa.privateKey,
    alg = "RS256",
    header = {},
  }: { readonly key?: KeyObject; readonly alg?: string; readonly header?: object } = {},
): string {
  const signed = `${part({ typ: "JWT", alg, ...header })}.${part(payload)}`;
  const bits = `sha${alg.slice(2)}`;
  const signature = sign(bits, Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

const VALID = { permissions: ["eth:*", 7], iat: NOW, exp: NOW + 300 };

function aChecker(rules: { algorithm?: string; audience?: string; publicKey?: string } = {}) {
  const time = { now: NOW };
  const { algorithm = "RS256", audience, publicKey = pem(rsa.publicKey) } = rules;
  let made = 0;
  const checker = new TokenChecker(
    { publicKey, algorithm, audience },
    (permissions) => {
      made++;
      return [...permissions].join(" ");
    },
    () => time.now * 1000,
  );
  const check = async (text: string, remoteHost = HOST): Promise<string> => {
    const checked = await checker.check(text, remoteHost);
    return checked instanceof RefusedToken ? `refused: ${checked.reason}` : checked;
  };
  return { check, checker, time, made: () => made };
}

describe("a token", () => {
  it("that counts gives its permissions, those that are texts", async () => {
    expect(await aChecker().check(token(VALID))).toBe("eth:*");
  });

  it.each(["RS256", "RS384", "RS512"])("may be signed by %s", async (algorithm) => {
    const { check } = aChecker({ algorithm });
    expect(await check(token(VALID, { alg: algorithm }))).toBe("eth:*");
  });

  it.each([
    ["ES256", "prime256v1"],
    ["ES384", "secp384r1"],
    ["ES512", "secp521r1"],
  ])("may be signed by %s", async (algorithm, namedCurve) => {
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve });
    const { check } = aChecker({ algorithm, publicKey: pem(publicKey) });
    expect(await check(token(VALID, { alg: algorithm, key: privateKey }))).toBe("eth:*");
  });

  it("without permissions allows nothing", async () => {
    expect(await aChecker().check(token({ exp: NOW + 1 }))).toBe("");
  });
});

describe("an attacker's token", () => {
  const [head, body, signature] = token(VALID).split(".") as [string, string, string];
  const none = part({ typ: "JWT", alg: "none" });
  const withHmac = `${part({ typ: "JWT", alg: "HS256" })}.${body}`;
  const hmacOf = (secret: string): string =>
    `${withHmac}.${createHmac("sha256", secret).update(withHmac).digest("base64url")}`;

  const cases: readonly (readonly [what: string, text: string, reason: string])[] = [
    ["alg none", `${none}.${body}.`, "another algorithm"],
    ["alg none in another case", `${part({ alg: "nOnE" })}.${body}.`, "another algorithm"],
    ["alg none with a signature", `${none}.${body}.${signature}`, "another algorithm"],
    ["HS256 with the public key as its secret", hmacOf(pem(rsa.publicKey)), "another algorithm"],
    ["HS256 with the public key, trimmed", hmacOf(pem(rsa.publicKey).trim()), "another algorithm"],
    ["the key of another issuer", token(VALID, { key: otherRsa.privateKey }), "wrong signature"],
    ["another algorithm of the same key", token(VALID, { alg: "RS512" }), "another algorithm"],
    ["a key of another kind", token(VALID, { alg: "ES256", key: curve.privateKey }), "another algorithm"],
    [
      "another payload under the signature",
      `${head}.${part({ ...VALID, permissions: ["*:*"] })}.${signature}`,
      "wrong signature",
    ],
    ["a signature cut short", `${head}.${body}.${signature.slice(0, -4)}`, "wrong signature"],
    ["no signature", `${head}.${body}.`, "wrong signature"],
    [
      "a key of its own in the header",
      token(VALID, {
        key: otherRsa.privateKey,
        header: { jwk: otherRsa.publicKey.export({ format: "jwk" }) },
      }),
      "wrong signature",
    ],
    ["a critical extension", token(VALID, { header: { crit: ["b64"], b64: false } }), "malformed"],
    ["expired", token({ ...VALID, exp: NOW - 1 }), "expired"],
    ["expiring this second", token({ ...VALID, exp: NOW }), "expired"],
    ["no time of expiry", token({ permissions: ["*:*"] }), "without exp"],
    ["a text as time of expiry", token({ ...VALID, exp: "never" }), "wrong exp"],
    ["not yet valid", token({ ...VALID, nbf: NOW + 1 }), "wrong nbf"],
    ["issued in the future", token({ ...VALID, iat: NOW + 1 }), "issued in the future"],
    ["too long", `${head}.${part("x".repeat(LONGEST_TOKEN))}.${signature}`, "too long"],
    ["empty", "", "malformed"],
    ["two parts", `${head}.${body}`, "malformed"],
    ["dots", "..", "malformed"],
    ["malformed base64", `${head}.$$$$.${signature}`, "malformed"],
    ["padded", `${head}.${body}.${signature}==`, "malformed"],
    [
      "a space in the signature",
      `${head}.${body}.${signature.slice(0, 9)} ${signature.slice(9)}`,
      "malformed",
    ],
    ["base64 of no JSON", `${part("{")}.${body}.${signature}`, "malformed"],
    ["JSON of no object", token([1] as object), "malformed"],
    ["zeros", "\0.\0.\0", "malformed"],
  ];

  it.each(cases)("is refused: %s", async (_what, text, reason) => {
    const { check, made } = aChecker();
    expect(await check(text)).toBe(`refused: ${reason}`);
    expect(made()).toBe(0);
  });

  it("is refused for another audience, or none, where one is asked", async () => {
    const { check } = aChecker({ audience: "node-1" });
    expect(await check(token({ ...VALID, aud: ["others", "node-1"] }))).toBe("eth:*");
    expect(await check(token({ ...VALID, aud: "others" }))).toBe("refused: wrong aud");
    expect(await check(token(VALID))).toBe("refused: without aud");
  });

  it("is not remembered", async () => {
    const { check } = aChecker();
    const bad = token(VALID, { key: otherRsa.privateKey });
    expect([await check(bad), await check(bad)]).toEqual(Array(2).fill("refused: wrong signature"));
  });
});

describe("a token that counted before", () => {
  it("is not checked again, until it expires", async () => {
    const { check, checker, time, made } = aChecker();
    const text = token(VALID);
    await check(text);
    expect(checker.check(text, HOST)).toBe("eth:*");
    expect(made()).toBe(1);
    time.now = NOW + 299;
    expect(await check(text)).toBe("eth:*");
    time.now = NOW + 300;
    expect(await check(text)).toBe("refused: expired");
    expect(await check(text)).toBe("refused: expired");
  });

  itIfThorough("is forgotten when many others came since", async () => {
    const { check, checker } = aChecker();
    const first = token(VALID);
    await check(first);
    for (let more = 0; more < REMEMBERED_TOKENS; more++) await check(token({ ...VALID, jti: more }));
    const again = checker.check(first, HOST);
    expect(again).toBeInstanceOf(Promise);
    expect(await again).toBe("eth:*");
  });
});

describe("signatures are checked one at a time", () => {
  const forged = token(VALID, { key: otherRsa.privateKey });

  it("and remote hosts take turns, so that nobody waits for a flood", async () => {
    const { check } = aChecker();
    const order: string[] = [];
    const note = (name: string, checked: Promise<string>) => checked.then(() => order.push(name));
    const flood = Array.from({ length: 40 }, () => note("flood", check(forged)));
    await Promise.all([...flood, note("other", check(token(VALID), "10.0.0.2"))]);
    expect(order.slice(0, 3)).toContain("other");
  });

  it("and of a host with too many, the newest are refused unchecked", async () => {
    const { check } = aChecker();
    const flood = Array.from({ length: WAITING_TOKENS + 3 }, () => check(forged));
    const other = check(token(VALID), "10.0.0.2");
    const refused = (await Promise.all(flood)).filter((reason) => reason === "refused: too many wait");
    expect(refused).toHaveLength(3);
    expect(await other).toBe("eth:*");
  });

  it("and once for requests that come together with a new token", async () => {
    const { check, made } = aChecker();
    const text = token(VALID);
    expect(await Promise.all([check(text), check(text), check(text)])).toEqual(Array(3).fill("eth:*"));
    expect(made()).toBe(1);
  });
});
