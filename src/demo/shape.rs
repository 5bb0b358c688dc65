//! Makes a type of the schema together with the way in which it is made from what the store has.

/// Defines a type of the schema: for each field its type, and its value.
macro_rules! shape {
    ($(#[$of_shape:meta])* $name:ident of $row:ident: $from:ty {
        $($(#[$of_field:meta])* $field:ident: $type:ty = $value:expr;)*
    }) => {
        #[derive(async_graphql::SimpleObject)]
        $(#[$of_shape])*
        pub(in crate::demo) struct $name {
            $($(#[$of_field])* $field: $type,)*
        }

        impl From<$from> for $name {
            fn from($row: $from) -> Self {
                Self {
                    $($field: $value,)*
                }
            }
        }
    };
}

pub(in crate::demo) use shape;
