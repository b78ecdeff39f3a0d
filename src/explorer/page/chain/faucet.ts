/** The amounts that the faucet gives, and how often. */
export interface FaucetTerms {
  /** Wei, as quantities. */
  readonly amount: string;
  readonly dailyLimit: string;
  readonly addressCooldownSeconds: number;
  readonly hostCooldownSeconds: number;
}

export interface Gift {
  readonly transactionHash: string;
  /** Wei, as a quantity. */
  readonly amount: string;
}

const PATH = "/api/faucet";

/** The terms of the node's faucet, requested once; null when it has none. */
export function faucetTerms(): Promise<FaucetTerms | null> {
  terms ??= loadTerms().catch((error: unknown) => {
    terms = undefined;
    throw error;
  });
  return terms;
}

let terms: Promise<FaucetTerms | null> | undefined;

async function loadTerms(): Promise<FaucetTerms | null> {
  const response = await fetch(PATH);
  return response.status === 200 ? ((await response.json()) as FaucetTerms) : null;
}

/** Requests a gift; throws the faucet's reason for refusing. */
export async function askForGift(address: string): Promise<Gift> {
  const response = await fetch(PATH, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ address }),
  });
  const answer = (await response.json().catch(() => ({}))) as Partial<Gift> & { readonly message?: string };
  const { transactionHash, amount } = answer;
  if (transactionHash === undefined || amount === undefined)
    throw new Error(answer.message ?? `The faucet answered with status ${response.status}.`);
  return { transactionHash, amount };
}
