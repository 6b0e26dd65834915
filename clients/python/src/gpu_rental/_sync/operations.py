"""As _async/operations.py, for programs that block.

Made of _async/operations.py by `npm run generate:python`: it is not written by hand.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Dict, List, Literal, Optional, Union, cast

from .._ask import Ask, segment

if TYPE_CHECKING:
    from .. import types as t


class Operations:
    """The calls. Those that read a list have one that reads page by page (`iter_…`)."""

    def _call(self, ask: Ask, timeout: Optional[float]) -> Any:
        raise NotImplementedError

    def request_code(
        self,
        body: t.RequestCode,
        *,
        timeout: float | None = None,
    ) -> t.Done:
        """Emails a one-time code. POST /v1/auth/request-code"""
        ask = Ask(
            "POST",
            "/v1/auth/request-code",
            "once",
            body=body,
        )
        return cast("t.Done", self._call(ask, timeout))

    def verify_code(
        self,
        body: t.VerifyCode,
        *,
        timeout: float | None = None,
    ) -> t.SignedIn:
        """Signs in with a code from an email. POST /v1/auth/verify-code"""
        ask = Ask(
            "POST",
            "/v1/auth/verify-code",
            "once",
            body=body,
        )
        return cast("t.SignedIn", self._call(ask, timeout))

    def show_me(
        self,
        *,
        timeout: float | None = None,
    ) -> t.Session:
        """The signed-in user, or the owner of the key. GET /v1/auth/me"""
        ask = Ask(
            "GET",
            "/v1/auth/me",
            "read",
        )
        return cast("t.Session", self._call(ask, timeout))

    def log_out(
        self,
        *,
        timeout: float | None = None,
    ) -> t.Done:
        """Ends this session. POST /v1/auth/logout"""
        ask = Ask(
            "POST",
            "/v1/auth/logout",
            "same",
            gone=401,
        )
        return cast("t.Done", self._call(ask, timeout))

    def list_providers(
        self,
        *,
        timeout: float | None = None,
    ) -> t.ListProvidersAnswer:
        """Other ways to sign in. GET /v1/auth/providers"""
        ask = Ask(
            "GET",
            "/v1/auth/providers",
            "read",
        )
        return cast("t.ListProvidersAnswer", self._call(ask, timeout))

    def list_sessions(
        self,
        *,
        cursor: str | None = None,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> t.OpenSessionPage:
        """Where you are signed in. GET /v1/auth/sessions"""
        ask = Ask(
            "GET",
            "/v1/auth/sessions",
            "read",
            query={"cursor": cursor, "pageSize": page_size},
        )
        return cast("t.OpenSessionPage", self._call(ask, timeout))

    def iter_sessions(
        self,
        *,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[t.OpenSession]:
        """As list_sessions, over all pages: each is read when it is needed."""
        cursor: str | None = None
        while True:
            page: t.OpenSessionPage = self.list_sessions(
                page_size=page_size, timeout=timeout, cursor=cursor
            )
            for item in page["sessions"]:
                yield item
            if page["nextCursor"] is None or page["nextCursor"] == cursor:
                return
            cursor = page["nextCursor"]

    def end_session(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Done:
        """Ends one session. DELETE /v1/auth/sessions/{id}"""
        ask = Ask(
            "DELETE",
            f"/v1/auth/sessions/{segment(id)}",
            "same",
            gone=404,
        )
        return cast("t.Done", self._call(ask, timeout))

    def end_other_sessions(
        self,
        *,
        timeout: float | None = None,
    ) -> t.EndOtherSessionsAnswer:
        """Ends all other sessions. POST /v1/auth/sessions/end-others"""
        ask = Ask(
            "POST",
            "/v1/auth/sessions/end-others",
            "same",
        )
        return cast("t.EndOtherSessionsAnswer", self._call(ask, timeout))

    def refresh_proof(
        self,
        body: t.RefreshProof,
        *,
        timeout: float | None = None,
    ) -> t.RefreshedProof:
        """Confirms who you are. POST /v1/auth/refresh-proof"""
        ask = Ask(
            "POST",
            "/v1/auth/refresh-proof",
            "once",
            body=body,
        )
        return cast("t.RefreshedProof", self._call(ask, timeout))

    def list_passkeys(
        self,
        *,
        timeout: float | None = None,
    ) -> t.ListPasskeysAnswer:
        """Your passkeys. GET /v1/auth/passkeys"""
        ask = Ask(
            "GET",
            "/v1/auth/passkeys",
            "read",
        )
        return cast("t.ListPasskeysAnswer", self._call(ask, timeout))

    def add_passkey(
        self,
        body: t.AddPasskey,
        *,
        timeout: float | None = None,
    ) -> t.Passkey:
        """Adds a passkey. POST /v1/auth/passkeys"""
        ask = Ask(
            "POST",
            "/v1/auth/passkeys",
            "once",
            body=body,
        )
        return cast("t.Passkey", self._call(ask, timeout))

    def begin_passkey(
        self,
        *,
        timeout: float | None = None,
    ) -> t.PasskeyCreation:
        """Begins to add a passkey. POST /v1/auth/passkeys/begin"""
        ask = Ask(
            "POST",
            "/v1/auth/passkeys/begin",
            "same",
        )
        return cast("t.PasskeyCreation", self._call(ask, timeout))

    def rename_passkey(
        self,
        id: str,
        body: t.RenamePasskey,
        *,
        timeout: float | None = None,
    ) -> t.Passkey:
        """Renames a passkey. PATCH /v1/auth/passkeys/{id}"""
        ask = Ask(
            "PATCH",
            f"/v1/auth/passkeys/{segment(id)}",
            "same",
            body=body,
        )
        return cast("t.Passkey", self._call(ask, timeout))

    def remove_passkey(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Done:
        """Removes a passkey. DELETE /v1/auth/passkeys/{id}"""
        ask = Ask(
            "DELETE",
            f"/v1/auth/passkeys/{segment(id)}",
            "same",
            gone=404,
        )
        return cast("t.Done", self._call(ask, timeout))

    def begin_passkey_sign_in(
        self,
        *,
        timeout: float | None = None,
    ) -> t.PasskeyRequest:
        """Begins a sign-in with a passkey. POST /v1/auth/passkey-sign-in/begin"""
        ask = Ask(
            "POST",
            "/v1/auth/passkey-sign-in/begin",
            "same",
        )
        return cast("t.PasskeyRequest", self._call(ask, timeout))

    def sign_in_by_passkey(
        self,
        body: t.ShowPasskey,
        *,
        timeout: float | None = None,
    ) -> t.SignedIn:
        """Signs in with a passkey. POST /v1/auth/passkey-sign-in"""
        ask = Ask(
            "POST",
            "/v1/auth/passkey-sign-in",
            "once",
            body=body,
        )
        return cast("t.SignedIn", self._call(ask, timeout))

    def begin_passkey_proof(
        self,
        *,
        timeout: float | None = None,
    ) -> t.PasskeyRequest:
        """Begins to confirm who you are with a passkey. POST /v1/auth/passkey-proof/begin"""
        ask = Ask(
            "POST",
            "/v1/auth/passkey-proof/begin",
            "same",
        )
        return cast("t.PasskeyRequest", self._call(ask, timeout))

    def prove_by_passkey(
        self,
        body: t.ShowPasskey,
        *,
        timeout: float | None = None,
    ) -> t.PasskeyProof:
        """Confirms who you are with a passkey. POST /v1/auth/passkey-proof"""
        ask = Ask(
            "POST",
            "/v1/auth/passkey-proof",
            "once",
            body=body,
        )
        return cast("t.PasskeyProof", self._call(ask, timeout))

    def show_account_closing(
        self,
        *,
        timeout: float | None = None,
    ) -> t.AccountClosing:
        """What closing your account does, or how far it is. GET /v1/account/closing"""
        ask = Ask(
            "GET",
            "/v1/account/closing",
            "read",
        )
        return cast("t.AccountClosing", self._call(ask, timeout))

    def close_account(
        self,
        body: t.CloseAccount,
        *,
        timeout: float | None = None,
    ) -> t.AccountClosing:
        """Closes your account for good. POST /v1/account/close"""
        ask = Ask(
            "POST",
            "/v1/account/close",
            "same",
            body=body,
        )
        return cast("t.AccountClosing", self._call(ask, timeout))

    def export_account(
        self,
        *,
        timeout: float | None = None,
    ) -> bytes:
        """Everything we hold about you, as one ZIP archive. GET /v1/account/export"""
        ask = Ask(
            "GET",
            "/v1/account/export",
            "once",
        )
        return cast("bytes", self._call(ask, timeout))

    def list_ssh_keys(
        self,
        *,
        timeout: float | None = None,
    ) -> t.ListSshKeysAnswer:
        """Your SSH keys. GET /v1/ssh-keys"""
        ask = Ask(
            "GET",
            "/v1/ssh-keys",
            "read",
        )
        return cast("t.ListSshKeysAnswer", self._call(ask, timeout))

    def add_ssh_key(
        self,
        body: t.AddSshKey,
        *,
        timeout: float | None = None,
    ) -> t.AddedSshKey:
        """Adds a public key, or creates a pair. POST /v1/ssh-keys"""
        ask = Ask(
            "POST",
            "/v1/ssh-keys",
            "once",
            body=body,
        )
        return cast("t.AddedSshKey", self._call(ask, timeout))

    def remove_ssh_key(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Done:
        """Removes a key. DELETE /v1/ssh-keys/{id}"""
        ask = Ask(
            "DELETE",
            f"/v1/ssh-keys/{segment(id)}",
            "same",
            gone=404,
        )
        return cast("t.Done", self._call(ask, timeout))

    def list_api_keys(
        self,
        *,
        cursor: str | None = None,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> t.ApiKeyPage:
        """The keys of your programs. GET /v1/api-keys"""
        ask = Ask(
            "GET",
            "/v1/api-keys",
            "read",
            query={"cursor": cursor, "pageSize": page_size},
        )
        return cast("t.ApiKeyPage", self._call(ask, timeout))

    def iter_api_keys(
        self,
        *,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[t.ApiKey]:
        """As list_api_keys, over all pages: each is read when it is needed."""
        cursor: str | None = None
        while True:
            page: t.ApiKeyPage = self.list_api_keys(
                page_size=page_size, timeout=timeout, cursor=cursor
            )
            for item in page["apiKeys"]:
                yield item
            if page["nextCursor"] is None or page["nextCursor"] == cursor:
                return
            cursor = page["nextCursor"]

    def create_api_key(
        self,
        body: t.CreateApiKey,
        *,
        timeout: float | None = None,
    ) -> t.CreatedApiKey:
        """Creates a key. POST /v1/api-keys"""
        ask = Ask(
            "POST",
            "/v1/api-keys",
            "once",
            body=body,
        )
        return cast("t.CreatedApiKey", self._call(ask, timeout))

    def show_api_key(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.ApiKey:
        """One key. GET /v1/api-keys/{id}"""
        ask = Ask(
            "GET",
            f"/v1/api-keys/{segment(id)}",
            "read",
        )
        return cast("t.ApiKey", self._call(ask, timeout))

    def change_api_key(
        self,
        id: str,
        body: t.ChangeApiKey,
        *,
        timeout: float | None = None,
    ) -> t.ApiKey:
        """Changes a key that is not revoked. PATCH /v1/api-keys/{id}"""
        ask = Ask(
            "PATCH",
            f"/v1/api-keys/{segment(id)}",
            "same",
            body=body,
        )
        return cast("t.ApiKey", self._call(ask, timeout))

    def revoke_api_key(
        self,
        id: str,
        *,
        stop_machines: bool | None = None,
        remove_made: bool | None = None,
        timeout: float | None = None,
    ) -> t.Done:
        """Revokes a key. DELETE /v1/api-keys/{id}"""
        ask = Ask(
            "DELETE",
            f"/v1/api-keys/{segment(id)}",
            "same",
            query={"stopMachines": stop_machines, "removeMade": remove_made},
            gone=404,
        )
        return cast("t.Done", self._call(ask, timeout))

    def list_listings(
        self,
        *,
        family_id: str | None = None,
        model: str | None = None,
        min_vram_gb: float | None = None,
        min_vcpus: float | None = None,
        min_memory_gb: float | None = None,
        min_disk_gb: float | None = None,
        gpu_count: Literal[1, 2, 4, 8] | None = None,
        region: str | None = None,
        max_price_per_hour_cents: float | None = None,
        cursor: str | None = None,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> t.ListingPage:
        """Machines you can rent now, cheapest first. GET /v1/catalog/listings"""
        ask = Ask(
            "GET",
            "/v1/catalog/listings",
            "read",
            query={"familyId": family_id, "model": model, "minVramGb": min_vram_gb, "minVcpus": min_vcpus, "minMemoryGb": min_memory_gb, "minDiskGb": min_disk_gb, "gpuCount": gpu_count, "region": region, "maxPricePerHourCents": max_price_per_hour_cents, "cursor": cursor, "pageSize": page_size},
        )
        return cast("t.ListingPage", self._call(ask, timeout))

    def iter_listings(
        self,
        *,
        family_id: str | None = None,
        model: str | None = None,
        min_vram_gb: float | None = None,
        min_vcpus: float | None = None,
        min_memory_gb: float | None = None,
        min_disk_gb: float | None = None,
        gpu_count: Literal[1, 2, 4, 8] | None = None,
        region: str | None = None,
        max_price_per_hour_cents: float | None = None,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[t.Listing]:
        """As list_listings, over all pages: each is read when it is needed."""
        cursor: str | None = None
        while True:
            page: t.ListingPage = self.list_listings(
                family_id=family_id, model=model, min_vram_gb=min_vram_gb, min_vcpus=min_vcpus, min_memory_gb=min_memory_gb, min_disk_gb=min_disk_gb, gpu_count=gpu_count, region=region, max_price_per_hour_cents=max_price_per_hour_cents, page_size=page_size, timeout=timeout, cursor=cursor
            )
            for item in page["listings"]:
                yield item
            if page["nextCursor"] is None or page["nextCursor"] == cursor:
                return
            cursor = page["nextCursor"]

    def list_families(
        self,
        *,
        timeout: float | None = None,
    ) -> t.ListFamiliesAnswer:
        """Every GPU family, with its cheapest price now. GET /v1/catalog/families"""
        ask = Ask(
            "GET",
            "/v1/catalog/families",
            "read",
        )
        return cast("t.ListFamiliesAnswer", self._call(ask, timeout))

    def show_family_history(
        self,
        id: str,
        *,
        region: str | None = None,
        timeout: float | None = None,
    ) -> t.FamilyHistory:
        """Hourly prices of a GPU family over the last 90 days. GET /v1/catalog/families/{id}/history"""
        ask = Ask(
            "GET",
            f"/v1/catalog/families/{segment(id)}/history",
            "read",
            query={"region": region},
        )
        return cast("t.FamilyHistory", self._call(ask, timeout))

    def list_templates(
        self,
        *,
        timeout: float | None = None,
    ) -> t.ListTemplatesAnswer:
        """Software templates. GET /v1/catalog/templates"""
        ask = Ask(
            "GET",
            "/v1/catalog/templates",
            "read",
        )
        return cast("t.ListTemplatesAnswer", self._call(ask, timeout))

    def create_quote(
        self,
        body: t.NewRental,
        *,
        timeout: float | None = None,
    ) -> t.Quote:
        """Quotes a rental, for a minute. POST /v1/quotes"""
        ask = Ask(
            "POST",
            "/v1/quotes",
            "read",
            body=body,
        )
        return cast("t.Quote", self._call(ask, timeout))

    def list_rentals(
        self,
        *,
        idempotency_key: str | None = None,
        ids: List[str] | None = None,
        status: Literal["provisioning", "running", "stopping", "stopped", "failed"] | None = None,
        live: bool | None = None,
        mine: bool | None = None,
        label: str | None = None,
        search: str | None = None,
        sort: Literal["newest", "oldest", "name", "price", "cost"] | None = None,
        counts: bool | None = None,
        cursor: str | None = None,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> t.RentalPage:
        """Your rentals, newest first. GET /v1/rentals"""
        ask = Ask(
            "GET",
            "/v1/rentals",
            "read",
            query={"idempotencyKey": idempotency_key, "ids": ids, "status": status, "live": live, "mine": mine, "label": label, "search": search, "sort": sort, "counts": counts, "cursor": cursor, "pageSize": page_size},
        )
        return cast("t.RentalPage", self._call(ask, timeout))

    def iter_rentals(
        self,
        *,
        idempotency_key: str | None = None,
        ids: List[str] | None = None,
        status: Literal["provisioning", "running", "stopping", "stopped", "failed"] | None = None,
        live: bool | None = None,
        mine: bool | None = None,
        label: str | None = None,
        search: str | None = None,
        sort: Literal["newest", "oldest", "name", "price", "cost"] | None = None,
        counts: bool | None = None,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[t.Rental]:
        """As list_rentals, over all pages: each is read when it is needed."""
        cursor: str | None = None
        while True:
            page: t.RentalPage = self.list_rentals(
                idempotency_key=idempotency_key, ids=ids, status=status, live=live, mine=mine, label=label, search=search, sort=sort, counts=counts, page_size=page_size, timeout=timeout, cursor=cursor
            )
            for item in page["rentals"]:
                yield item
            if page["nextCursor"] is None or page["nextCursor"] == cursor:
                return
            cursor = page["nextCursor"]

    def create_rental(
        self,
        body: t.CreateRental,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.OpenedRental:
        """Rents one of the cheapest machines that match. POST /v1/rentals"""
        ask = Ask(
            "POST",
            "/v1/rentals",
            "keyed",
            body=body,
            key=idempotency_key,
        )
        return cast("t.OpenedRental", self._call(ask, timeout))

    def show_rental(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Rental:
        """One rental. GET /v1/rentals/{id}"""
        ask = Ask(
            "GET",
            f"/v1/rentals/{segment(id)}",
            "read",
        )
        return cast("t.Rental", self._call(ask, timeout))

    def change_rental(
        self,
        id: str,
        body: t.ChangeRental,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.Rental:
        """Changes a rental’s name, labels, notes and limits. PATCH /v1/rentals/{id}"""
        ask = Ask(
            "PATCH",
            f"/v1/rentals/{segment(id)}",
            "keyed",
            body=body,
            key=idempotency_key,
        )
        return cast("t.Rental", self._call(ask, timeout))

    def stop_rental(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.StoppedRental:
        """Stops a rental. POST /v1/rentals/{id}/stop"""
        ask = Ask(
            "POST",
            f"/v1/rentals/{segment(id)}/stop",
            "same",
        )
        return cast("t.StoppedRental", self._call(ask, timeout))

    def show_meter(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Meter:
        """The cost of a rental so far. GET /v1/rentals/{id}/meter"""
        ask = Ask(
            "GET",
            f"/v1/rentals/{segment(id)}/meter",
            "read",
        )
        return cast("t.Meter", self._call(ask, timeout))

    def show_charges(
        self,
        id: str,
        *,
        interval: Literal["hour", "day"] | None = None,
        timeout: float | None = None,
    ) -> t.Charges:
        """The charges of a rental, by hour or by day. GET /v1/rentals/{id}/charges"""
        ask = Ask(
            "GET",
            f"/v1/rentals/{segment(id)}/charges",
            "read",
            query={"interval": interval},
        )
        return cast("t.Charges", self._call(ask, timeout))

    def show_telemetry(
        self,
        id: str,
        *,
        from_: str | None = None,
        to: str | None = None,
        points: int | None = None,
        timeout: float | None = None,
    ) -> t.Telemetry:
        """How much a machine was used. GET /v1/rentals/{id}/telemetry"""
        ask = Ask(
            "GET",
            f"/v1/rentals/{segment(id)}/telemetry",
            "read",
            query={"from": from_, "to": to, "points": points},
        )
        return cast("t.Telemetry", self._call(ask, timeout))

    def show_endpoint_token(
        self,
        id: str,
        name: str,
        *,
        timeout: float | None = None,
    ) -> t.EndpointToken:
        """The token that opens an endpoint. GET /v1/rentals/{id}/endpoints/{name}/token"""
        ask = Ask(
            "GET",
            f"/v1/rentals/{segment(id)}/endpoints/{segment(name)}/token",
            "read",
        )
        return cast("t.EndpointToken", self._call(ask, timeout))

    def keep_rental_alive(
        self,
        id: str,
        body: t.KeepRentalAlive,
        *,
        timeout: float | None = None,
    ) -> t.Rental:
        """Keeps an idle machine running. POST /v1/rentals/{id}/keep-alive"""
        ask = Ask(
            "POST",
            f"/v1/rentals/{segment(id)}/keep-alive",
            "same",
            body=body,
        )
        return cast("t.Rental", self._call(ask, timeout))

    def show_balance(
        self,
        *,
        timeout: float | None = None,
    ) -> t.Balance:
        """The balance. GET /v1/billing/balance"""
        ask = Ask(
            "GET",
            "/v1/billing/balance",
            "read",
        )
        return cast("t.Balance", self._call(ask, timeout))

    def show_billing_config(
        self,
        *,
        timeout: float | None = None,
    ) -> t.BillingConfig:
        """Settings for topping up. GET /v1/billing/config"""
        ask = Ask(
            "GET",
            "/v1/billing/config",
            "read",
        )
        return cast("t.BillingConfig", self._call(ask, timeout))

    def show_standing(
        self,
        *,
        timeout: float | None = None,
    ) -> t.Standing:
        """Whether anything is wrong with your account. GET /v1/billing/standing"""
        ask = Ask(
            "GET",
            "/v1/billing/standing",
            "read",
        )
        return cast("t.Standing", self._call(ask, timeout))

    def list_ledger(
        self,
        *,
        type: Literal["processor_topup", "auto_topup", "rental_charge", "refund", "adjustment"] | None = None,
        rental_id: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        before_seq: int | None = None,
        cursor: str | None = None,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> t.LedgerEntryPage:
        """Every change to the wallet, newest first. GET /v1/billing/ledger"""
        ask = Ask(
            "GET",
            "/v1/billing/ledger",
            "read",
            query={"type": type, "rentalId": rental_id, "from": from_, "to": to, "beforeSeq": before_seq, "cursor": cursor, "pageSize": page_size},
        )
        return cast("t.LedgerEntryPage", self._call(ask, timeout))

    def iter_ledger(
        self,
        *,
        type: Literal["processor_topup", "auto_topup", "rental_charge", "refund", "adjustment"] | None = None,
        rental_id: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        before_seq: int | None = None,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[t.LedgerEntry]:
        """As list_ledger, over all pages: each is read when it is needed."""
        cursor: str | None = None
        while True:
            page: t.LedgerEntryPage = self.list_ledger(
                type=type, rental_id=rental_id, from_=from_, to=to, before_seq=before_seq, page_size=page_size, timeout=timeout, cursor=cursor
            )
            for item in page["entries"]:
                yield item
            if page["nextCursor"] is None or page["nextCursor"] == cursor:
                return
            cursor = page["nextCursor"]

    def show_statement(
        self,
        *,
        from_: str,
        to: str,
        group_by: str | None = None,
        timeout: float | None = None,
    ) -> t.Statement:
        """Totals between two instants. GET /v1/billing/statement"""
        ask = Ask(
            "GET",
            "/v1/billing/statement",
            "read",
            query={"from": from_, "to": to, "groupBy": group_by},
        )
        return cast("t.Statement", self._call(ask, timeout))

    def show_spending(
        self,
        *,
        from_: str,
        to: str,
        timeout: float | None = None,
    ) -> t.Spending:
        """What you spent, by day and rental. GET /v1/billing/spending"""
        ask = Ask(
            "GET",
            "/v1/billing/spending",
            "read",
            query={"from": from_, "to": to},
        )
        return cast("t.Spending", self._call(ask, timeout))

    def download_ledger(
        self,
        *,
        from_: str | None = None,
        to: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """The ledger as a file, oldest first. GET /v1/billing/ledger.csv"""
        ask = Ask(
            "GET",
            "/v1/billing/ledger.csv",
            "read",
            query={"from": from_, "to": to},
        )
        return cast("str", self._call(ask, timeout))

    def download_proof(
        self,
        *,
        month: str,
        timeout: float | None = None,
    ) -> str:
        """The proof of a month’s ledger. GET /v1/billing/proof"""
        ask = Ask(
            "GET",
            "/v1/billing/proof",
            "read",
            query={"month": month},
        )
        return cast("str", self._call(ask, timeout))

    def list_roots(
        self,
        *,
        after: int | None = None,
        timeout: float | None = None,
    ) -> t.ListRootsAnswer:
        """The signed roots of all ledgers, oldest first. GET /v1/ledger/roots"""
        ask = Ask(
            "GET",
            "/v1/ledger/roots",
            "read",
            query={"after": after},
        )
        return cast("t.ListRootsAnswer", self._call(ask, timeout))

    def explain_ledger_entry(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Explanation:
        """Explains a ledger entry. GET /v1/billing/ledger/{id}/explain"""
        ask = Ask(
            "GET",
            f"/v1/billing/ledger/{segment(id)}/explain",
            "read",
        )
        return cast("t.Explanation", self._call(ask, timeout))

    def show_budget(
        self,
        *,
        timeout: float | None = None,
    ) -> t.Budget:
        """The month’s budget. GET /v1/billing/budget"""
        ask = Ask(
            "GET",
            "/v1/billing/budget",
            "read",
        )
        return cast("t.Budget", self._call(ask, timeout))

    def put_budget(
        self,
        body: t.PutBudget,
        *,
        timeout: float | None = None,
    ) -> t.Budget:
        """Sets what the rentals of a month may cost. PUT /v1/billing/budget"""
        ask = Ask(
            "PUT",
            "/v1/billing/budget",
            "same",
            body=body,
        )
        return cast("t.Budget", self._call(ask, timeout))

    def create_checkout(
        self,
        body: t.CreateCheckout,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> t.Checkout:
        """Tops the wallet up. POST /v1/billing/checkout"""
        ask = Ask(
            "POST",
            "/v1/billing/checkout",
            "keyed",
            body=body,
            key=idempotency_key,
        )
        return cast("t.Checkout", self._call(ask, timeout))

    def list_topups(
        self,
        *,
        idempotency_key: str | None = None,
        cursor: str | None = None,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> t.TopupPage:
        """Your top-ups, newest first. GET /v1/billing/topups"""
        ask = Ask(
            "GET",
            "/v1/billing/topups",
            "read",
            query={"idempotencyKey": idempotency_key, "cursor": cursor, "pageSize": page_size},
        )
        return cast("t.TopupPage", self._call(ask, timeout))

    def iter_topups(
        self,
        *,
        idempotency_key: str | None = None,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[t.Topup]:
        """As list_topups, over all pages: each is read when it is needed."""
        cursor: str | None = None
        while True:
            page: t.TopupPage = self.list_topups(
                idempotency_key=idempotency_key, page_size=page_size, timeout=timeout, cursor=cursor
            )
            for item in page["topups"]:
                yield item
            if page["nextCursor"] is None or page["nextCursor"] == cursor:
                return
            cursor = page["nextCursor"]

    def show_topup(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Topup:
        """One top-up. GET /v1/billing/topups/{id}"""
        ask = Ask(
            "GET",
            f"/v1/billing/topups/{segment(id)}",
            "read",
        )
        return cast("t.Topup", self._call(ask, timeout))

    def download_receipt(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> bytes:
        """The receipt of a top-up, as a PDF. GET /v1/billing/topups/{id}/receipt"""
        ask = Ask(
            "GET",
            f"/v1/billing/topups/{segment(id)}/receipt",
            "read",
        )
        return cast("bytes", self._call(ask, timeout))

    def show_billing_details(
        self,
        *,
        timeout: float | None = None,
    ) -> t.BillingDetails:
        """Billing details for statements and receipts. GET /v1/billing/details"""
        ask = Ask(
            "GET",
            "/v1/billing/details",
            "read",
        )
        return cast("t.BillingDetails", self._call(ask, timeout))

    def put_billing_details(
        self,
        body: t.PutBillingDetails,
        *,
        timeout: float | None = None,
    ) -> t.BillingDetails:
        """Sets the billing details for statements and receipts. PUT /v1/billing/details"""
        ask = Ask(
            "PUT",
            "/v1/billing/details",
            "same",
            body=body,
        )
        return cast("t.BillingDetails", self._call(ask, timeout))

    def begin_card_setup(
        self,
        *,
        timeout: float | None = None,
    ) -> t.CardSetup:
        """Starts saving a card. POST /v1/billing/setup-intent"""
        ask = Ask(
            "POST",
            "/v1/billing/setup-intent",
            "read",
        )
        return cast("t.CardSetup", self._call(ask, timeout))

    def show_card(
        self,
        *,
        timeout: float | None = None,
    ) -> t.Card:
        """The saved card. GET /v1/billing/card"""
        ask = Ask(
            "GET",
            "/v1/billing/card",
            "read",
        )
        return cast("t.Card", self._call(ask, timeout))

    def remove_card(
        self,
        *,
        timeout: float | None = None,
    ) -> t.Done:
        """Removes the saved card. DELETE /v1/billing/card"""
        ask = Ask(
            "DELETE",
            "/v1/billing/card",
            "same",
            gone=404,
        )
        return cast("t.Done", self._call(ask, timeout))

    def show_auto_topup(
        self,
        *,
        timeout: float | None = None,
    ) -> t.AutoTopup:
        """The settings of auto-topup. GET /v1/billing/auto-topup"""
        ask = Ask(
            "GET",
            "/v1/billing/auto-topup",
            "read",
        )
        return cast("t.AutoTopup", self._call(ask, timeout))

    def put_auto_topup(
        self,
        body: t.PutAutoTopup,
        *,
        timeout: float | None = None,
    ) -> t.StoredAutoTopup:
        """Turns automatic top-ups on or off. PUT /v1/billing/auto-topup"""
        ask = Ask(
            "PUT",
            "/v1/billing/auto-topup",
            "same",
            body=body,
        )
        return cast("t.StoredAutoTopup", self._call(ask, timeout))

    def list_invoices(
        self,
        *,
        status: Literal["open", "paid", "void", "uncollectible"] | None = None,
        limit: int | None = None,
        before: str | None = None,
        timeout: float | None = None,
    ) -> t.ListInvoicesAnswer:
        """Your invoices, newest first. GET /v1/billing/invoices"""
        ask = Ask(
            "GET",
            "/v1/billing/invoices",
            "read",
            query={"status": status, "limit": limit, "before": before},
        )
        return cast("t.ListInvoicesAnswer", self._call(ask, timeout))

    def show_invoice(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Invoice:
        """One invoice. GET /v1/billing/invoices/{id}"""
        ask = Ask(
            "GET",
            f"/v1/billing/invoices/{segment(id)}",
            "read",
        )
        return cast("t.Invoice", self._call(ask, timeout))

    def show_pay_url(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.PayUrl:
        """The page on which an invoice can be paid. GET /v1/billing/invoices/{id}/pay-url"""
        ask = Ask(
            "GET",
            f"/v1/billing/invoices/{segment(id)}/pay-url",
            "read",
        )
        return cast("t.PayUrl", self._call(ask, timeout))

    def list_webhooks(
        self,
        *,
        timeout: float | None = None,
    ) -> t.ListWebhooksAnswer:
        """Your webhooks. GET /v1/webhooks"""
        ask = Ask(
            "GET",
            "/v1/webhooks",
            "read",
        )
        return cast("t.ListWebhooksAnswer", self._call(ask, timeout))

    def add_webhook(
        self,
        body: t.AddWebhook,
        *,
        timeout: float | None = None,
    ) -> t.AddedWebhook:
        """Creates a webhook. POST /v1/webhooks"""
        ask = Ask(
            "POST",
            "/v1/webhooks",
            "once",
            body=body,
        )
        return cast("t.AddedWebhook", self._call(ask, timeout))

    def get_webhook(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Webhook:
        """One webhook. GET /v1/webhooks/{id}"""
        ask = Ask(
            "GET",
            f"/v1/webhooks/{segment(id)}",
            "read",
        )
        return cast("t.Webhook", self._call(ask, timeout))

    def change_webhook(
        self,
        id: str,
        body: t.ChangeWebhook,
        *,
        timeout: float | None = None,
    ) -> t.Webhook:
        """Changes a webhook, or turns it back on. PATCH /v1/webhooks/{id}"""
        ask = Ask(
            "PATCH",
            f"/v1/webhooks/{segment(id)}",
            "same",
            body=body,
        )
        return cast("t.Webhook", self._call(ask, timeout))

    def remove_webhook(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Done:
        """Removes a webhook. DELETE /v1/webhooks/{id}"""
        ask = Ask(
            "DELETE",
            f"/v1/webhooks/{segment(id)}",
            "same",
            gone=404,
        )
        return cast("t.Done", self._call(ask, timeout))

    def list_webhook_deliveries(
        self,
        id: str,
        *,
        cursor: str | None = None,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> t.WebhookDeliveryPage:
        """Each delivery try. GET /v1/webhooks/{id}/deliveries"""
        ask = Ask(
            "GET",
            f"/v1/webhooks/{segment(id)}/deliveries",
            "read",
            query={"cursor": cursor, "pageSize": page_size},
        )
        return cast("t.WebhookDeliveryPage", self._call(ask, timeout))

    def iter_webhook_deliveries(
        self,
        id: str,
        *,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[t.WebhookDelivery]:
        """As list_webhook_deliveries, over all pages: each is read when it is needed."""
        cursor: str | None = None
        while True:
            page: t.WebhookDeliveryPage = self.list_webhook_deliveries(
                id, page_size=page_size, timeout=timeout, cursor=cursor
            )
            for item in page["deliveries"]:
                yield item
            if page["nextCursor"] is None or page["nextCursor"] == cursor:
                return
            cursor = page["nextCursor"]

    def ping_webhook(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.Done:
        """Sends it a webhook.ping. POST /v1/webhooks/{id}/ping"""
        ask = Ask(
            "POST",
            f"/v1/webhooks/{segment(id)}/ping",
            "once",
        )
        return cast("t.Done", self._call(ask, timeout))

    def redeliver_webhook(
        self,
        id: str,
        body: t.RedeliverWebhook,
        *,
        timeout: float | None = None,
    ) -> t.WebhookRedelivery:
        """Resends all events after a number. POST /v1/webhooks/{id}/redeliver"""
        ask = Ask(
            "POST",
            f"/v1/webhooks/{segment(id)}/redeliver",
            "once",
            body=body,
        )
        return cast("t.WebhookRedelivery", self._call(ask, timeout))

    def rotate_webhook_secret(
        self,
        id: str,
        *,
        timeout: float | None = None,
    ) -> t.RotatedWebhook:
        """Creates a new secret. POST /v1/webhooks/{id}/rotate-secret"""
        ask = Ask(
            "POST",
            f"/v1/webhooks/{segment(id)}/rotate-secret",
            "once",
        )
        return cast("t.RotatedWebhook", self._call(ask, timeout))

    def list_audit_events(
        self,
        *,
        kind: Literal["signed_in", "signed_out", "proof_refreshed", "ssh_key_added", "ssh_key_removed", "rental_created", "rental_changed", "rental_stopped", "checkout_begun", "card_saved", "card_removed", "auto_topup_changed", "billing_details_changed", "changed_by_operator", "charges_held", "rental_ended", "notices_changed", "webhook_created", "webhook_changed", "webhook_removed", "webhook_switched_off", "budget_changed", "api_key_created", "api_key_changed", "api_key_revoked", "passkey_added", "passkey_removed", "passkey_refused", "account_exported"] | None = None,
        cursor: str | None = None,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> t.AuditEventPage:
        """Changes to the account and its money. GET /v1/audit"""
        ask = Ask(
            "GET",
            "/v1/audit",
            "read",
            query={"kind": kind, "cursor": cursor, "pageSize": page_size},
        )
        return cast("t.AuditEventPage", self._call(ask, timeout))

    def iter_audit_events(
        self,
        *,
        kind: Literal["signed_in", "signed_out", "proof_refreshed", "ssh_key_added", "ssh_key_removed", "rental_created", "rental_changed", "rental_stopped", "checkout_begun", "card_saved", "card_removed", "auto_topup_changed", "billing_details_changed", "changed_by_operator", "charges_held", "rental_ended", "notices_changed", "webhook_created", "webhook_changed", "webhook_removed", "webhook_switched_off", "budget_changed", "api_key_created", "api_key_changed", "api_key_revoked", "passkey_added", "passkey_removed", "passkey_refused", "account_exported"] | None = None,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[t.AuditEvent]:
        """As list_audit_events, over all pages: each is read when it is needed."""
        cursor: str | None = None
        while True:
            page: t.AuditEventPage = self.list_audit_events(
                kind=kind, page_size=page_size, timeout=timeout, cursor=cursor
            )
            for item in page["events"]:
                yield item
            if page["nextCursor"] is None or page["nextCursor"] == cursor:
                return
            cursor = page["nextCursor"]

    def show_notices(
        self,
        *,
        timeout: float | None = None,
    ) -> t.NoticeSettings:
        """Emails that you get without asking. GET /v1/notices"""
        ask = Ask(
            "GET",
            "/v1/notices",
            "read",
        )
        return cast("t.NoticeSettings", self._call(ask, timeout))

    def save_notices(
        self,
        body: t.SaveNotices,
        *,
        timeout: float | None = None,
    ) -> t.NoticeSettings:
        """Turns kinds of these emails on or off. PUT /v1/notices"""
        ask = Ask(
            "PUT",
            "/v1/notices",
            "same",
            body=body,
        )
        return cast("t.NoticeSettings", self._call(ask, timeout))

    def list_events(
        self,
        *,
        after: int | None = None,
        types: List[Literal["rental.created", "rental.machine_found", "rental.ssh_answered", "rental.running", "rental.warned", "rental.script_fetched", "rental.kept_alive", "rental.ports_closed", "rental.changed", "rental.stopping", "rental.stopped", "rental.failed", "topup.succeeded", "topup.failed", "topup.expired", "topup.reversed", "topup.reinstated", "wallet.credited", "wallet.low", "wallet.exhausted", "budget.reached", "auto_topup.succeeded", "auto_topup.switched_off", "card.saved", "card.removed", "invoice.opened", "invoice.paid", "invoice.voided", "invoice.uncollectible", "ssh_key.added", "ssh_key.removed", "passkey.added", "passkey.removed", "api_key.created", "api_key.changed", "api_key.revoked", "webhook.created", "webhook.changed", "webhook.switched_off", "webhook.removed", "webhook.ping", "session.started", "session.ended", "feed.resync"]] | None = None,
        before: int | None = None,
        page_size: int | None = None,
        timeout: float | None = None,
    ) -> t.EventPage:
        """Events of the account, in order. GET /v1/events"""
        ask = Ask(
            "GET",
            "/v1/events",
            "read",
            query={"after": after, "types": types, "before": before, "pageSize": page_size},
        )
        return cast("t.EventPage", self._call(ask, timeout))
