//! Gives leases as rows of a holder.

use std::sync::Arc;

use super::holder::Holder;
use super::statement::{Statement, column, synced, unsynced};
use super::{Database, PostgresStore};
use crate::store::leases::{HeldAs, LeaseScope};
use crate::store::{Fence, Lease, LeaseMode, LeaseName, Leases, StoreError, StoreResult};

/// A lease that lives as long as its row and its holder.
#[derive(Debug)]
struct LeaseRow {
    database: Arc<Database>,
    holder: Arc<Holder>,
    number: i64,
}

impl HeldAs for LeaseRow {
    fn is_sure(&self) -> bool {
        self.holder.is_sure()
    }

    fn fence(&self) -> Fence {
        Fence {
            holder: self.holder.id,
            number: self.number,
        }
    }
}

impl Drop for LeaseRow {
    fn drop(&mut self) {
        self.holder.give_number_back(self.number);
        let removed = Statement::new(concat!(
            "DELETE FROM @.lease WHERE holder = $1 AND number = $2 AND ",
            unsynced!()
        ));
        let removed = removed.integer(self.holder.id).integer(self.number);
        self.database.give_back(&self.holder, removed);
    }
}

impl PostgresStore {
    fn about_lease(&self, sql: &'static str, name: &LeaseName) -> Statement {
        let wiki = match name.scope() {
            LeaseScope::AllWikis => "",
            LeaseScope::Wiki | LeaseScope::Passing => &self.wiki,
        };
        Statement::new(sql).text(wiki).text(name.as_str())
    }
}

impl Leases for PostgresStore {
    fn try_lease(&self, name: &LeaseName, mode: LeaseMode) -> StoreResult<Option<Lease>> {
        let is_alone = mode == LeaseMode::Alone || name.scope() == LeaseScope::Passing;
        // The holder may have been removed; a new one was not.
        for _ in 0..2 {
            let holder = self.database.holder()?;
            let number = holder.take_number();
            let asked = self
                .about_lease(
                    concat!("SELECT @.try_lease($3, $4, $1, $2, $5) WHERE ", synced!()),
                    name,
                )
                .integer(holder.id)
                .integer(number)
                .flag(is_alone);
            let rows = self.database.ask(asked);
            let rows = rows.inspect_err(|_| holder.give_number_back(number))?;
            let given = rows.first().map(|row| column(row, 0)).transpose()?;
            match given {
                Some("given") => {
                    let database = Arc::clone(&self.database);
                    return Ok(Some(Lease::new(LeaseRow {
                        database,
                        holder,
                        number,
                    })));
                }
                Some("gone") => holder.set_gone(),
                _ => {
                    holder.give_number_back(number);
                    return Ok(None);
                }
            }
        }
        Err(StoreError::Overtaken)
    }

    fn may_be_held(&self, name: &LeaseName) -> bool {
        let sql = "SELECT 1 FROM @.lease JOIN @.holder ON id = holder
            WHERE wiki = $1 AND name = $2 AND NOT @.is_past(until, lasts) LIMIT 1";
        let held = self.database.ask(self.about_lease(sql, name));
        held.is_err() || held.is_ok_and(|rows| !rows.is_empty())
    }

    fn sweep_leases(&self) -> StoreResult<()> {
        let sql = "DELETE FROM @.holder WHERE @.is_past(until, lasts)";
        self.database.ask(Statement::new(sql)).map(drop)
    }
}
