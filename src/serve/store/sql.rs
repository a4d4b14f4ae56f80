//! What the two databases have in common: a transaction, parameters, rows. A statement is written once.

use std::fmt;

use tokio_postgres::types::{ToSql, Type};

use super::postgresql::Session;

/// What a statement may fail with.
#[derive(Debug)]
pub enum SqlError {
    /// SQLite's.
    Sqlite(rusqlite::Error),
    /// PostgreSQL's.
    Postgres(tokio_postgres::Error),
    /// PostgreSQL does not answer.
    Slow,
    /// PostgreSQL cannot be reached, and why.
    Unreachable(String),
    /// A statement that must have a row has none.
    NoRow,
}

/// What a statement gives.
pub type SqlResult<T> = Result<T, SqlError>;

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SqlError::Sqlite(error) => error.fmt(f),
            // Its own text is `db error`, and no more.
            SqlError::Postgres(error) => match error.as_db_error() {
                Some(said) => f.write_str(said.message()),
                None => error.fmt(f),
            },
            SqlError::Slow => f.write_str("the database does not answer"),
            SqlError::Unreachable(why) => write!(f, "the database cannot be reached: {why}"),
            SqlError::NoRow => f.write_str("the row is missing"),
        }
    }
}

impl std::error::Error for SqlError {}

impl From<rusqlite::Error> for SqlError {
    fn from(error: rusqlite::Error) -> SqlError {
        SqlError::Sqlite(error)
    }
}

impl From<tokio_postgres::Error> for SqlError {
    fn from(error: tokio_postgres::Error) -> SqlError {
        SqlError::Postgres(error)
    }
}

/// A parameter of a statement: the tables have two types.
#[derive(Debug, Clone, Copy)]
pub enum Param<'a> {
    /// A `BIGINT`.
    Number(i64),
    /// A `TEXT`.
    Text(&'a str),
}

impl From<&i64> for Param<'_> {
    fn from(number: &i64) -> Self {
        Param::Number(*number)
    }
}

impl<'a> From<&'a String> for Param<'a> {
    fn from(text: &'a String) -> Self {
        Param::Text(text)
    }
}

impl<'a> From<&&'a String> for Param<'a> {
    fn from(text: &&'a String) -> Self {
        Param::Text(text)
    }
}

impl<'a> From<&&'a str> for Param<'a> {
    fn from(text: &&'a str) -> Self {
        Param::Text(text)
    }
}

/// The parameters of a statement.
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::store::sql::Param::from(&$value)),*] };
}
pub(crate) use params;

/// A row, while it is read.
pub enum Row<'a> {
    /// SQLite's.
    Sqlite(&'a rusqlite::Row<'a>),
    /// PostgreSQL's.
    Postgres(&'a tokio_postgres::Row),
}

impl Row<'_> {
    /// The text of that column.
    ///
    /// # Errors
    /// Where it has none.
    pub fn text(&self, column: usize) -> SqlResult<String> {
        Ok(match self {
            Row::Sqlite(row) => row.get(column)?,
            Row::Postgres(row) => row.try_get(column)?,
        })
    }

    /// The number of that column; none is below 0.
    ///
    /// # Errors
    /// Where it has none.
    pub fn number(&self, column: usize) -> SqlResult<u64> {
        let number: i64 = match self {
            Row::Sqlite(row) => row.get(column)?,
            Row::Postgres(row) => row.try_get(column)?,
        };
        Ok(number.max(0) as u64)
    }
}

/// A transaction: all that is done in it lasts, or nothing.
pub enum Tx<'a> {
    /// SQLite's.
    Sqlite(rusqlite::Transaction<'a>),
    /// PostgreSQL's.
    Postgres(&'a Session<'a>),
}

impl Tx<'_> {
    /// Does it: how many rows it changed.
    ///
    /// # Errors
    /// What the database says.
    pub fn execute(&self, sql: &str, parameters: &[Param<'_>]) -> SqlResult<usize> {
        match self {
            Tx::Sqlite(tx) => {
                let mut statement = tx.prepare_cached(sql)?;
                bind(&mut statement, parameters)?;
                Ok(statement.raw_execute()?)
            }
            Tx::Postgres(session) => {
                let values = storable(parameters);
                Ok(session.wait(session.client.execute_typed(sql, &typed(&values)))? as usize)
            }
        }
    }

    /// Shows each row to `each`, in order.
    ///
    /// # Errors
    /// What the database says, or `each`.
    pub fn for_each(
        &self,
        sql: &str,
        parameters: &[Param<'_>],
        mut each: impl FnMut(&Row<'_>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        match self {
            Tx::Sqlite(tx) => {
                let mut statement = tx.prepare_cached(sql)?;
                bind(&mut statement, parameters)?;
                let mut rows = statement.raw_query();
                while let Some(row) = rows.next()? {
                    each(&Row::Sqlite(row))?;
                }
            }
            Tx::Postgres(session) => {
                let values = storable(parameters);
                for row in session.wait(session.client.query_typed(sql, &typed(&values)))? {
                    each(&Row::Postgres(&row))?;
                }
            }
        }
        Ok(())
    }

    /// What is made of each row.
    ///
    /// # Errors
    /// What the database says, or `read`.
    pub fn query<T>(
        &self,
        sql: &str,
        parameters: &[Param<'_>],
        read: impl Fn(&Row<'_>) -> SqlResult<T>,
    ) -> SqlResult<Vec<T>> {
        let mut all = Vec::new();
        self.for_each(sql, parameters, |row| {
            all.push(read(row)?);
            Ok(())
        })?;
        Ok(all)
    }

    /// What is made of the first row, where there is one.
    ///
    /// # Errors
    /// What the database says, or `read`.
    pub fn query_first<T>(
        &self,
        sql: &str,
        parameters: &[Param<'_>],
        read: impl Fn(&Row<'_>) -> SqlResult<T>,
    ) -> SqlResult<Option<T>> {
        Ok(self.query(sql, parameters, read)?.into_iter().next())
    }
}

fn bind(statement: &mut rusqlite::Statement<'_>, parameters: &[Param<'_>]) -> SqlResult<()> {
    for (at, parameter) in parameters.iter().enumerate() {
        match parameter {
            Param::Number(number) => statement.raw_bind_parameter(at + 1, number)?,
            Param::Text(text) => statement.raw_bind_parameter(at + 1, text)?,
        }
    }
    Ok(())
}

/// A parameter as PostgreSQL takes it.
type Storable = (Box<dyn ToSql + Sync>, Type);

/// PostgreSQL has no text with a zero character: the same other character stands in its place wherever it is
/// written or looked for.
fn storable(parameters: &[Param<'_>]) -> Vec<Storable> {
    let one = |parameter: &Param<'_>| -> Storable {
        match parameter {
            Param::Number(number) => (Box::new(*number), Type::INT8),
            Param::Text(text) => (Box::new(text.replace('\0', "\u{fffd}")), Type::TEXT),
        }
    };
    parameters.iter().map(one).collect()
}

/// With their types said, a statement takes one round trip.
fn typed(parameters: &[Storable]) -> Vec<(&(dyn ToSql + Sync), Type)> {
    parameters.iter().map(|(value, kind)| (&**value, kind.clone())).collect()
}
