import { hashSync } from "bcryptjs";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  COUNTED_PAIRS,
  WAITING_LOGINS,
  WRONG_LOGINS,
  WRONG_LOGINS_MS,
} from "../../../src/callers/access/limits.ts";
import { createLogin } from "../../../src/callers/access/logins.ts";
import { PasswordChecker } from "../../../src/callers/access/passwords.ts";
import { createTokenIssuer } from "../../../src/callers/access/tokenIssuer.ts";
import { WrongLogins } from "../../../src/callers/access/wrongLogins.ts";
import { LONGEST_NAME } from "../../../src/config/credentialsFile.ts";

const USERS = ["alice", "bob"].map((name) => ({
  name,
  passwordHash: `hash of ${name}`,
  permissions: [`of:${name}`],
}));
const HOST = "10.0.0.1";
const FROM_HOST = { remoteHost: HOST, isAbandoned: () => false };

/** Log-ins whose passwords are right when they name the hash. */
function aLogin() {
  const time = { ms: 0 };
  const compared: string[] = [];
  const login = createLogin({
    users: () => USERS,
    issuer: { publicKey: "", issue: async ({ name, permissions }) => `${name} ${permissions.join()}` },
    passwords: {
      async check({ password, hash }) {
        compared.push(hash);
        return password === "stall" ? "busy" : password === hash;
      },
    },
    wrongLogins: new WrongLogins(() => time.ms),
  });
  const attempt = (name: string, password: string, remoteHost = HOST) =>
    login({ name, password, remoteHost });
  return { attempt, time, compared };
}

describe("a log-in", () => {
  it("gives a token for the right password", async () => {
    const { attempt } = aLogin();
    expect(await attempt("bob", "hash of bob")).toEqual({ token: "bob of:bob" });
    expect(await attempt("bob", "hash of alice")).toBe("wrong");
  });

  it("of an unknown name takes a comparison as well, with always the same hash, and never succeeds", async () => {
    const { attempt, compared } = aLogin();
    const names = Array.from({ length: 40 }, (_, number) => `unknown ${number}`);
    for (const name of names)
      for (const password of USERS.map(({ passwordHash }) => passwordHash))
        expect(await attempt(name, password)).toBe("wrong");
    expect(compared).toHaveLength(80);
    expect(names.every((_, at) => compared[2 * at] === compared[2 * at + 1])).toBe(true);
    expect(new Set(compared).size).toBe(2);
  });

  it("is not compared any more after many wrong ones of its host under its name", async () => {
    const { attempt, time, compared } = aLogin();
    for (let wrong = 0; wrong < WRONG_LOGINS; wrong++) expect(await attempt("bob", "x")).toBe("wrong");
    expect(await attempt("bob", "hash of bob")).toBe("busy");
    expect(compared).toHaveLength(WRONG_LOGINS);
    expect(await attempt("bob", "hash of bob", "10.0.0.2")).toEqual({ token: "bob of:bob" });
    expect(await attempt("alice", "hash of alice")).toEqual({ token: "alice of:alice" });
    time.ms += WRONG_LOGINS_MS;
    expect(await attempt("bob", "hash of bob")).toEqual({ token: "bob of:bob" });
  });

  it("that is right forgives the wrong ones before", async () => {
    const { attempt } = aLogin();
    for (let round = 0; round < 3; round++) {
      for (let wrong = 1; wrong < WRONG_LOGINS; wrong++) expect(await attempt("bob", "x")).toBe("wrong");
      expect(await attempt("bob", "hash of bob")).toEqual({ token: "bob of:bob" });
    }
  });

  it("under a very long name is counted under its beginning", async () => {
    const { attempt } = aLogin();
    const name = "x".repeat(LONGEST_NAME);
    for (let wrong = 0; wrong < WRONG_LOGINS; wrong++)
      expect(await attempt(`${name}${wrong}`, "x")).toBe("wrong");
    expect(await attempt(`${name}y`, "x")).toBe("busy");
  });

  it("that was not compared is not counted as wrong", async () => {
    const { attempt } = aLogin();
    for (let stalled = 0; stalled <= WRONG_LOGINS; stalled++)
      expect(await attempt("bob", "stall")).toBe("busy");
    expect(await attempt("bob", "hash of bob")).toEqual({ token: "bob of:bob" });
  });
});

it("wrong log-ins are counted for a bounded number of pairs", () => {
  const wrongLogins = new WrongLogins(() => 0);
  for (let wrong = 0; wrong < WRONG_LOGINS; wrong++) wrongLogins.wrong(HOST, "first");
  for (let other = 1; other < COUNTED_PAIRS; other++) wrongLogins.wrong(HOST, `other ${other}`);
  expect(wrongLogins.areTooMany(HOST, "first")).toBe(true);
  wrongLogins.wrong(HOST, "one more");
  expect(wrongLogins.areTooMany(HOST, "first")).toBe(false);
});

describe("the thread that compares passwords", () => {
  const hash = hashSync("right", 4);

  function aChecker() {
    const checker = new PasswordChecker();
    onTestFinished(() => checker.close());
    return checker;
  }

  it("knows the right one", async () => {
    const checker = aChecker();
    const others = hash.replace("$2b$", "$2a$");
    expect(await checker.check({ password: "right", hash }, FROM_HOST)).toBe(true);
    expect(await checker.check({ password: "right", hash: others }, FROM_HOST)).toBe(true);
    expect(await checker.check({ password: "wrong", hash }, FROM_HOST)).toBe(false);
  });

  it("lets few wait, and of a flood's host the newest go", async () => {
    const checker = aChecker();
    const flood = Array.from({ length: 2 * WAITING_LOGINS }, () =>
      checker.check({ password: "wrong", hash }, FROM_HOST),
    );
    const other = checker.check({ password: "right", hash }, { ...FROM_HOST, remoteHost: "10.0.0.2" });
    const outcomes = await Promise.all(flood);
    expect(outcomes.filter((outcome) => outcome === "busy").length).toBeGreaterThanOrEqual(WAITING_LOGINS);
    expect(await other).toBe(true);
  });

  it("compares ten of many wrong ones that come together under one name", async () => {
    const login = createLogin({
      users: () => [{ name: "bob", passwordHash: hash, permissions: [] }],
      issuer: { publicKey: "", issue: async () => "a token" },
      passwords: aChecker(),
      wrongLogins: new WrongLogins(() => 0),
    });
    const attempts = Array.from({ length: WAITING_LOGINS }, (_, at) =>
      login({ name: "bob", password: `wrong ${at}`, remoteHost: HOST }),
    );
    const last = login({ name: "bob", password: "right", remoteHost: "10.0.0.2" });
    const outcomes = await Promise.all(attempts);
    expect(outcomes.filter((outcome) => outcome === "wrong")).toHaveLength(WRONG_LOGINS);
    expect(await last).toEqual({ token: "a token" });
  });

  it("answers those that wait when it closes", async () => {
    const checker = aChecker();
    const waiting = [1, 2, 3].map(() => checker.check({ password: "right", hash }, FROM_HOST));
    await checker.close();
    expect(await Promise.all(waiting)).toContain("busy");
  });
});

it("an issued token lives five minutes and says who it is for", async () => {
  const issuer = await createTokenIssuer(() => 1_800_000_000_999);
  const token = await issuer.issue({ name: "alice", permissions: ["eth:*"] });
  const [header, payload] = token.split(".").map((text) => Buffer.from(text, "base64url").toString());
  expect(header).toBe('{"typ":"JWT","alg":"RS256"}');
  expect(payload).toBe('{"permissions":["eth:*"],"username":"alice","iat":1800000000,"exp":1800000300}');
});
