import { useId, useState } from "preact/hooks";
import { MISTYPED, readAddress } from "../chain/addresses.ts";
import { askForGift, type FaucetTerms, faucetTerms, type Gift } from "../chain/faucet.ts";
import { useLoaded } from "../chain/hooks.ts";
import { messageOf, showCoins, showDuration, showText } from "../format.ts";
import { Coins } from "../parts/coins.tsx";
import { AccountLink, TransactionLink } from "../parts/links.tsx";
import { Empty, Loading, Problem } from "../parts/notices.tsx";
import { Panel } from "../parts/panel.tsx";

/** The form with which a visitor requests coin from a test network's faucet. */
export function FaucetView() {
  const terms = useLoaded(faucetTerms, []);
  if (terms.error !== undefined) return <Problem error={terms.error} />;
  if (terms.value === undefined) return <Loading />;
  return (
    <article class="page narrow">
      <h1>Faucet</h1>
      {terms.value === null ? <Empty>This node has no faucet.</Empty> : <GiftForm terms={terms.value} />}
    </article>
  );
}

type Outcome = { readonly gift: Gift; readonly address: string } | { readonly problem: string } | "asking";

function GiftForm({ terms }: { readonly terms: FaucetTerms }) {
  const id = useId();
  const [address, setAddress] = useState("");
  const [outcome, setOutcome] = useState<Outcome>();

  const ask = async (event: Event): Promise<void> => {
    event.preventDefault();
    const wanted = address.trim();
    if (readAddress(wanted).kind === "mistyped") {
      setOutcome({ problem: MISTYPED });
      return;
    }
    setOutcome("asking");
    try {
      setOutcome({ gift: await askForGift(wanted), address: wanted });
    } catch (error) {
      setOutcome({ problem: messageOf(error) });
    }
  };

  return (
    <Panel title="Coins for an account">
      <p class="note">
        Once in {showDuration(terms.addressCooldownSeconds)} for an account, once in{" "}
        {showDuration(terms.hostCooldownSeconds)} for a visitor, and {showCoins(terms.dailyLimit)} coins a day
        for all together.
      </p>
      <form class="form" onSubmit={(event) => void ask(event)}>
        <div class="field">
          <label for={id}>Address</label>
          <input
            id={id}
            class="hex"
            placeholder="0x…"
            autocomplete="off"
            spellcheck={false}
            required
            pattern="\s*0x[0-9a-fA-F]{40}\s*"
            title="0x and 40 hexadecimal digits"
            value={address}
            onInput={({ currentTarget }) => setAddress(currentTarget.value)}
          />
        </div>
        <button type="submit" class="button main" disabled={outcome === "asking"}>
          Ask for coins
        </button>
        <div role="status">{outcome !== undefined && <Shown outcome={outcome} />}</div>
      </form>
    </Panel>
  );
}

function Shown({ outcome }: { readonly outcome: Outcome }) {
  if (outcome === "asking") return <p class="note">Asking the faucet…</p>;
  if ("problem" in outcome) return <p class="problem">{showText(outcome.problem, 300)}</p>;
  const { gift, address } = outcome;
  return (
    <p>
      <Coins wei={gift.amount} /> are on their way to <AccountLink address={address} />, by transaction{" "}
      <TransactionLink hash={gift.transactionHash} />.
    </p>
  );
}
